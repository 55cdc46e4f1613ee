#include "trainer/capture/taps.h"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#include <torch/csrc/autograd/variable.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace vramscope::trainer {
namespace {

std::atomic<bool> g_saved_tensors{false};
std::atomic<uint64_t> g_packed{0}, g_unpacked{0}, g_released{0};

// One per saved tensor; its death is the moment when the graph lets the storage go.
class SavedTensorHook final : public torch::autograd::SavedVariableHooks {
 public:
  ~SavedTensorHook() override {
    if (key_ == 0) return;
    g_released.fetch_add(1, std::memory_order_relaxed);
    Recorder* recorder = Recorder::Current();
    // Before the tensor goes: its free, if any, comes after the retag.
    if (recorder != nullptr && recorder->serial() == serial_) recorder->OnSavedReleased(key_);
  }

  void call_pack_hook(const at::Tensor& tensor) override {
    // Not the tensor itself: an output saved by its own node would keep itself alive. tensor_data()
    // goes around the dispatcher, so nothing of this shows up as an op.
    tensor_ = at::Tensor(tensor.tensor_data());
    key_ = StorageKey(tensor_);
    if (key_ == 0) return;
    g_packed.fetch_add(1, std::memory_order_relaxed);
    if (Recorder* recorder = Recorder::Current()) {
      serial_ = recorder->serial();
      recorder->OnSaved(key_);
    }
  }

  at::Tensor call_unpack_hook() override {
    if (key_ != 0) g_unpacked.fetch_add(1, std::memory_order_relaxed);
    return tensor_;
  }

 private:
  at::Tensor tensor_;
  uint64_t key_ = 0;
  uint64_t serial_ = 0;
};

// LibTorch's default hooks take Python objects; the engine's virtual method is the C++ way in.
class HookingEngine final : public torch::autograd::Engine {
 public:
  HookingEngine() = default;
  ~HookingEngine() override { stop(); }
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (!g_saved_tensors.load(std::memory_order_relaxed)) return nullptr;
    return std::make_unique<SavedTensorHook>();
  }
};

void InstallEngine() {
  static std::once_flag once;
  std::call_once(once, [] {
    torch::autograd::set_default_engine_stub([]() -> torch::autograd::Engine& {
      // Never destroyed: its threads must not outlive what they use at process exit.
      static auto* engine = new HookingEngine();
      return *engine;
    });
  });
}

class GradientHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  void operator()(const torch::autograd::Variable& tensor) override {
    TagStorage(tensor.grad(), trace::Category::kGradient, "gradient accumulated");
  }
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

void WatchGradients(const std::vector<at::Tensor>& parameters) {
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.requires_grad()) continue;
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, std::make_unique<GradientHook>());
  }
}

SavedTensorCounts SavedTensorTotals() {
  return {.packed = g_packed, .unpacked = g_unpacked, .released = g_released};
}

}  // namespace vramscope::trainer
