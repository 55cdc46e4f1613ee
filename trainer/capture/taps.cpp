#include "trainer/capture/taps.h"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#include <torch/csrc/autograd/variable.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace vramscope::trainer {
namespace {

std::atomic<bool> g_saved_tensors{false};
std::atomic<uint64_t> g_packed{0}, g_unpacked{0}, g_released{0};

// The packer of this thread, and the tensors that it has packed. The packed tensors are kept
// because several nodes may save different views of one tensor.
struct Packing {
  struct Packed {
    c10::weak_intrusive_ptr<at::StorageImpl> storage;
    int64_t offset, count;
    std::vector<int64_t> sizes, strides;  // set for tensors with gaps
    int64_t version;
    std::weak_ptr<PackedTensor> packed;
  };
  SavedTensorPacker* packer = nullptr;
  std::unordered_map<uint64_t, std::vector<Packed>> packed;  // keyed by storage
};
thread_local Packing t_packing;

// Packs a tensor in memory order, without gaps and overlaps, so that its views share the result.
std::shared_ptr<PackedTensor> PackOnce(const at::Tensor& tensor) {
  if (t_packing.packer == nullptr || !tensor.defined() || !tensor.has_storage() ||
      !t_packing.packer->Takes(tensor)) {
    return nullptr;
  }
  const bool dense = tensor.is_non_overlapping_and_dense();
  Packing::Packed now{
      c10::weak_intrusive_ptr<at::StorageImpl>(tensor.storage().getWeakStorageImpl()),
      tensor.storage_offset(),
      tensor.numel(),
      dense ? std::vector<int64_t>() : tensor.sizes().vec(),
      dense ? std::vector<int64_t>() : tensor.strides().vec(),
      static_cast<int64_t>(tensor._version()),
      {}};
  std::vector<Packing::Packed>& known = t_packing.packed[StorageKey(tensor)];
  std::erase_if(known, [](const Packing::Packed& p) { return p.storage.expired(); });
  for (const Packing::Packed& p : known) {
    if (p.offset != now.offset || p.count != now.count || p.sizes != now.sizes ||
        p.strides != now.strides || p.version != now.version) {
      continue;
    }
    if (std::shared_ptr<PackedTensor> packed = p.packed.lock()) return packed;
  }
  // Switches the packer off while it packs, so that tensors that it computes are not packed.
  SavedTensorPacker* packer = std::exchange(t_packing.packer, nullptr);
  std::shared_ptr<PackedTensor> packed;
  {
    at::NoGradGuard no_grad;
    const at::Tensor view(tensor.tensor_data());
    packed = packer->Pack(dense ? view.as_strided({now.count}, {1}, now.offset)
                                : view.contiguous().view({now.count}));
  }
  t_packing.packer = packer;
  now.packed = packed;
  t_packing.packed[StorageKey(tensor)].push_back(std::move(now));
  return packed;
}

thread_local const SavedHooksScope::Make* t_make_hooks = nullptr;

// Each saved tensor has one such hook. The graph destroys it when it releases the tensor.
class SavedTensorHook final : public torch::autograd::SavedVariableHooks {
 public:
  void call_pack_hook(const at::Tensor& tensor) override {
    packed_ = PackOnce(tensor);
    if (packed_ != nullptr) {
      sizes_ = tensor.sizes().vec();
      if (tensor.is_non_overlapping_and_dense()) strides_ = tensor.strides().vec();
      return;
    }
    // Stores only the data. Otherwise, a node that saves its own output would keep the graph alive.
    // tensor_data() bypasses the dispatcher, so it is not recorded as an op.
    tensor_ = at::Tensor(tensor.tensor_data());
    mark_.emplace(tensor_);
  }

  at::Tensor call_unpack_hook() override {
    if (packed_ != nullptr) {
      at::Tensor unpacked = packed_->Unpack();
      return strides_.empty() ? unpacked.view(sizes_) : unpacked.as_strided(sizes_, strides_, 0);
    }
    if (StorageKey(tensor_) != 0) g_unpacked.fetch_add(1, std::memory_order_relaxed);
    return tensor_;
  }

 private:
  at::Tensor tensor_;
  std::shared_ptr<PackedTensor> packed_;
  std::vector<int64_t> sizes_, strides_;  // shape of the packed tensor; strides if it had no gaps
  std::optional<SavedMark> mark_;         // destroyed before the tensor
};

// LibTorch's interface for default hooks takes Python objects. From C++, they can only be set by
// overriding a virtual method of the engine.
class HookingEngine final : public torch::autograd::Engine {
 public:
  HookingEngine() = default;
  ~HookingEngine() override { stop(); }
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (t_make_hooks != nullptr) return (*t_make_hooks)();
    if (!g_saved_tensors.load(std::memory_order_relaxed)) return nullptr;
    return std::make_unique<SavedTensorHook>();
  }
};

void InstallEngine() {
  static std::once_flag once;
  std::call_once(once, [] {
    torch::autograd::set_default_engine_stub([]() -> torch::autograd::Engine& {
      // The engine is never destroyed: its threads may still use it when the process exits.
      static auto* engine = new HookingEngine();
      return *engine;
    });
  });
}

class GradientHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit GradientHook(std::function<void(const at::Tensor&)> then) : then_(std::move(then)) {}
  void operator()(const torch::autograd::Variable& tensor) override {
    TagStorage(tensor.grad(), trace::Category::kGradient, "gradient accumulated");
    if (then_) then_(tensor);
  }

 private:
  std::function<void(const at::Tensor&)> then_;
};

std::unique_ptr<at::ObserverContext> OnOpBegin(const at::RecordFunction& fn) {
  if (Recorder* recorder = Recorder::Current()) {
    const bool backward = fn.scope() == at::RecordScope::BACKWARD_FUNCTION;
    recorder->BeginOp(fn.name(), fn.seqNr(), backward,
                      backward ? fn.forwardThreadId() : fn.threadId());
  }
  return nullptr;
}

void OnOpEnd(const at::RecordFunction&, at::ObserverContext*) {
  if (Recorder* recorder = Recorder::Current()) recorder->EndOp();
}

}  // namespace

Taps::Taps(const TapOptions& options) {
  InstallEngine();
  g_saved_tensors = options.saved_tensors;
  if (options.ops) {
    callback_ = at::addGlobalCallback(
        at::RecordFunctionCallback(OnOpBegin, OnOpEnd)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  }
}

Taps::~Taps() {
  if (callback_ != 0) at::removeCallback(callback_);
  g_saved_tensors = false;
}

void TagStorage(const at::Tensor& tensor, trace::Category category, std::string_view why) {
  Recorder* recorder = Recorder::Current();
  const uint64_t key = StorageKey(tensor);
  if (recorder != nullptr && key != 0) recorder->Retag(key, category, why);
}

SavedMark::SavedMark(const at::Tensor& tensor) : key_(StorageKey(tensor)) {
  if (key_ == 0) return;
  g_packed.fetch_add(1, std::memory_order_relaxed);
  if (Recorder* recorder = Recorder::Current()) {
    serial_ = recorder->serial();
    recorder->OnSaved(key_);
  }
}

SavedMark::~SavedMark() {
  if (key_ == 0) return;
  g_released.fetch_add(1, std::memory_order_relaxed);
  Recorder* recorder = Recorder::Current();
  // The tensor is released only after this, so a retag is recorded before the free.
  if (recorder != nullptr && recorder->serial() == serial_) recorder->OnSavedReleased(key_);
}

SavedHooksScope::SavedHooksScope(Make make)
    : make_(std::move(make)), outer_(std::exchange(t_make_hooks, &make_)) {}

SavedHooksScope::~SavedHooksScope() { t_make_hooks = outer_; }

PackerScope::PackerScope(SavedTensorPacker* packer) { t_packing.packer = packer; }

PackerScope::~PackerScope() {
  t_packing.packer = nullptr;
  t_packing.packed.clear();
}

void WatchGradients(const std::vector<at::Tensor>& parameters,
                    std::function<void(const at::Tensor& leaf)> then) {
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.requires_grad()) continue;
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, std::make_unique<GradientHook>(then));
  }
}

SavedTensorCounts SavedTensorTotals() {
  return {.packed = g_packed, .unpacked = g_unpacked, .released = g_released};
}

}  // namespace vramscope::trainer
