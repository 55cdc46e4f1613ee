#include "trainer/sharding/zero_redundancy.h"

#include <torch/types.h>

#include <algorithm>

#include "trainer/capture/scopes.h"

namespace vramscope::trainer {
namespace {

class ZeroRedundancy final : public Optimizer {
 public:
  ZeroRedundancy(c10::intrusive_ptr<c10d::ProcessGroup> group, MakeOptimizerOf make,
                 std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), 0),
        group_(std::move(group)),
        of_ranks_(DealOut(parameters_, group_->getSize())),
        own_(make(of_ranks_[static_cast<size_t>(group_->getRank())])) {}

  void Step() override {
    own_->Step();
    const CategoryScope category(trace::Category::kCommunication);
    std::vector<c10::intrusive_ptr<c10d::Work>> sent;
    for (size_t rank = 0; rank < of_ranks_.size(); ++rank) {
      for (const at::Tensor& parameter : of_ranks_[rank]) {
        std::vector<at::Tensor> tensors = {parameter.detach()};
        c10d::BroadcastOptions options;
        options.rootRank = static_cast<int64_t>(rank);
        options.asyncOp = true;
        sent.push_back(group_->broadcast(tensors, options));
      }
    }
    for (const auto& work : sent) work->wait();
  }
  void SetLearningRate(double lr) override { own_->SetLearningRate(lr); }
  std::vector<at::Tensor> StateTensors() const override { return own_->StateTensors(); }

 private:
  const c10::intrusive_ptr<c10d::ProcessGroup> group_;
  const std::vector<std::vector<at::Tensor>> of_ranks_;
  const std::unique_ptr<Optimizer> own_;
};

}  // namespace

std::vector<std::vector<at::Tensor>> DealOut(const std::vector<at::Tensor>& parameters, int ranks) {
  std::vector<at::Tensor> sorted = parameters;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const at::Tensor& a, const at::Tensor& b) { return a.numel() > b.numel(); });
  std::vector<std::vector<at::Tensor>> out(static_cast<size_t>(ranks));
  std::vector<int64_t> elements(out.size());
  for (const at::Tensor& parameter : sorted) {
    const auto least = std::min_element(elements.begin(), elements.end());
    *least += parameter.numel();
    out[static_cast<size_t>(least - elements.begin())].push_back(parameter);
  }
  return out;
}

std::unique_ptr<Optimizer> MakeZeroRedundancy(c10::intrusive_ptr<c10d::ProcessGroup> group,
                                              MakeOptimizerOf make,
                                              std::vector<at::Tensor> parameters) {
  return std::make_unique<ZeroRedundancy>(std::move(group), make, std::move(parameters));
}

}  // namespace vramscope::trainer
