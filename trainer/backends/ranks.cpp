#include "trainer/backends/ranks.h"

#include <torch/types.h>

#include <map>
#include <mutex>

namespace vramscope::trainer {
namespace {

constexpr size_t kNcclIdBytes = 128;
using Bytes = std::vector<uint8_t>;

class LoneStore final : public c10d::Store {
 public:
  c10::intrusive_ptr<c10d::Store> clone() override {
    return c10::intrusive_ptr<c10d::Store>::unsafe_reclaim_from_nonowning(this);
  }
  void set(const std::string& key, const Bytes& value) override {
    const std::lock_guard lock(mutex_);
    said_[key] = value;
  }
  Bytes get(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    const auto found = said_.find(key);
    return found != said_.end() ? found->second : Bytes(kNcclIdBytes);
  }
  int64_t add(const std::string& key, int64_t value) override {
    const std::lock_guard lock(mutex_);
    return counts_[key] += value;
  }
  bool deleteKey(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    return said_.erase(key) > 0;
  }
  bool check(const std::vector<std::string>& keys) override {
    const std::lock_guard lock(mutex_);
    return std::all_of(keys.begin(), keys.end(),
                       [&](const std::string& key) { return said_.contains(key); });
  }
  int64_t getNumKeys() override {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(said_.size());
  }
  void wait(const std::vector<std::string>&) override {}
  void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) override {}

 private:
  std::mutex mutex_;  // threads of the group also lock it
  std::map<std::string, Bytes> said_;
  std::map<std::string, int64_t> counts_;
};

class Done final : public c10d::Work {
 public:
  explicit Done(const std::vector<at::Tensor>& outputs)
      : future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {
    future_->markCompleted(c10::IValue(outputs));
    finish();
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

class EqualRanks final : public c10d::Backend {
 public:
  using Backend::Backend;
  const std::string getBackendName() const override { return "equal-ranks"; }

  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions&) override {
    return c10::make_intrusive<Done>(tensors);
  }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override {
    for (at::Tensor& tensor : tensors) Reduce(tensor, options.reduceOp);
    return c10::make_intrusive<Done>(tensors);
  }
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions&) override {
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (at::Tensor& output : outputs[i]) output.copy_(inputs[i]);
    }
    return c10::make_intrusive<Done>(outputs.front());
  }
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input,
                                                 const c10d::AllgatherOptions&) override {
    output.view({getSize(), -1}).copy_(input.view({1, -1}).expand({getSize(), -1}));
    return c10::make_intrusive<Done>(std::vector<at::Tensor>{output});
  }
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(
      at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override {
    output.view({-1}).copy_(input.view({getSize(), -1})[getRank()]);
    Reduce(output, options.reduceOp);
    return c10::make_intrusive<Done>(std::vector<at::Tensor>{output});
  }
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions&) override {
    return c10::make_intrusive<Done>(std::vector<at::Tensor>{});
  }

 private:
  // Replaces the tensor with what a reduction gives if all ranks have equal values.
  void Reduce(at::Tensor& tensor, const c10d::ReduceOp& operation) const {
    if (operation == c10d::ReduceOp::SUM) tensor.mul_(getSize());
    if (operation == c10d::ReduceOp::PRODUCT) tensor.pow_(getSize());
  }
};

}  // namespace

c10::intrusive_ptr<c10d::Store> MakeLoneStore() { return c10::make_intrusive<LoneStore>(); }

c10::intrusive_ptr<c10d::Backend> MakeEqualRanks(int rank, int ranks) {
  return c10::make_intrusive<EqualRanks>(rank, ranks);
}

c10::intrusive_ptr<c10d::ProcessGroup> MakeProcessGroup(
    const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend,
    c10::DeviceType device) {
  using c10d::ProcessGroup;
  auto group = c10::make_intrusive<ProcessGroup>(store, backend->getRank(), backend->getSize());
  const auto kind = device == c10::kCUDA ? ProcessGroup::NCCL : ProcessGroup::CUSTOM;
  group->setBackend(device, kind, backend);
  group->setDefaultBackend(kind);
  group->setGroupName("0");
  group->setGroupDesc("default_pg");
  return group;
}

}  // namespace vramscope::trainer
