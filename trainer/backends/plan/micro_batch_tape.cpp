#include "trainer/backends/plan/micro_batch_tape.h"

#include <torch/torch.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "trainer/backends/plan/plan_memory.h"
#include "trainer/capture/tape.h"
#include "trainer/capture/taps.h"

namespace vramscope::trainer::plan {
namespace {

class PlanTape final : public MicroBatchTape {
 public:
  explicit PlanTape(Recorder& recorder) : recorder_(recorder) {}
  ~PlanTape() override {
    if (recording_) recorder_.EndTape();
  }

  void Record() override {
    recording_ = true;
    recorder_.BeginTape(&tape_);
  }

  void Stop(std::span<const at::Tensor> trained) override {
    recorder_.EndTape();
    recording_ = false;
    gradients_.clear();
    std::vector<uint64_t> kept;
    for (size_t i = 0; i < trained.size(); ++i) {
      const at::Tensor& grad = trained[i].grad();
      if (!grad.defined()) continue;
      const uint64_t id = recorder_.IdOf(StorageKey(grad));
      if (id < tape_.first_allocation || id >= tape_.end_allocation) continue;  // older: stays
      kept.push_back(id);
      gradients_.push_back({i, id - tape_.first_allocation, grad.storage().nbytes(),
                            grad.sizes().vec(), grad.strides().vec(), grad.storage_offset(),
                            grad.dtype()});
    }
    std::sort(kept.begin(), kept.end());
    ready_ = tape_.Check(kept);
    if (!ready_) tape_ = {};
  }

  bool ready() const override { return ready_; }

  void Play(std::span<const at::Tensor> trained) override {
    // Gradients may share a storage (views of one that was made for several).
    std::unordered_map<uint64_t, c10::Storage> storages;
    for (const PlanMemory::Kept& kept : PlanMemory::Get().Play(tape_)) {
      size_t bytes = 0;
      for (const Gradient& g : gradients_)
        if (g.allocation == kept.allocation) bytes = g.bytes;
      storages.emplace(kept.allocation,
                       c10::Storage(c10::Storage::use_byte_size_t{}, bytes,
                                    PlanMemory::Get().Adopt(kept.address), &PlanAllocator(),
                                    /*resizable=*/true));
    }
    for (const Gradient& g : gradients_) {
      at::Tensor grad = at::detail::make_tensor<c10::TensorImpl>(
          c10::Storage(storages.at(g.allocation)), c10::DispatchKeySet(c10::DispatchKey::CUDA),
          g.dtype);
      grad.unsafeGetTensorImpl()->set_sizes_and_strides(g.sizes, g.strides, g.offset);
      trained[g.parameter].mutable_grad() = std::move(grad);
    }
  }

 private:
  struct Gradient {
    size_t parameter = 0;     // of the trained ones
    uint64_t allocation = 0;  // number within the tape
    size_t bytes = 0;         // of its storage
    std::vector<int64_t> sizes, strides;
    int64_t offset = 0;
    caffe2::TypeMeta dtype;
  };
  Recorder& recorder_;
  Tape tape_;
  std::vector<Gradient> gradients_;
  bool recording_ = false;
  bool ready_ = false;
};

}  // namespace

std::unique_ptr<MicroBatchTape> MakeMicroBatchTape(Recorder& recorder) {
  return std::make_unique<PlanTape>(recorder);
}

}  // namespace vramscope::trainer::plan
