// Reports LibTorch's own events to the recorder: every operator and backward node (RecordFunction),
// every tensor that autograd saves and releases (saved-tensor hooks), every accumulated gradient.
// Backends report allocations.
//
//   Taps taps({.ops = true});            // while it exists, reports to Recorder::Current()
//   TagStorage(weight, trace::Category::kParameter, "parameter");
//   WatchGradients(model->parameters());
//
// One Taps per process at a time, created and destroyed while no op or backward runs.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "profiler/trace/types.h"
#include "trainer/capture/recorder.h"

namespace vramscope::trainer {

struct TapOptions {
  bool ops = true;  // if false, allocations name no op and backward finds no modules
  // With hooks, LibTorch skips its check that a saved tensor was not changed in place.
  bool saved_tensors = true;
};

class Taps {
 public:
  explicit Taps(const TapOptions& options = {});
  ~Taps();
  Taps(const Taps&) = delete;
  Taps& operator=(const Taps&) = delete;

 private:
  at::CallbackHandle callback_ = 0;
};

// The recorder's key of a tensor's storage; 0: none.
inline uint64_t StorageKey(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return 0;
  return reinterpret_cast<uint64_t>(tensor.storage().data());
}

// Sets the category of the whole storage. Undefined tensors are ignored.
void TagStorage(const at::Tensor& tensor, trace::Category category, std::string_view why);

// Whenever autograd has accumulated into one of these leaves, tags the storage of its gradient as
// Gradient and calls `then` with the leaf. A second call for a parameter replaces the first.
void WatchGradients(const std::vector<at::Tensor>& parameters,
                    std::function<void(const at::Tensor& leaf)> then = nullptr);

// While a SavedMark exists, its tensor counts as saved for backward.
class SavedMark {
 public:
  explicit SavedMark(const at::Tensor& tensor);
  ~SavedMark();
  SavedMark(const SavedMark&) = delete;
  SavedMark& operator=(const SavedMark&) = delete;

 private:
  uint64_t key_ = 0, serial_ = 0;
};

// While this scope exists, `make` creates the hooks of tensors saved on this thread, in place of
// the default hooks. The hooks must report what they save (SavedMark).
class SavedHooksScope {
 public:
  using Make = std::function<std::unique_ptr<torch::autograd::SavedVariableHooks>()>;
  explicit SavedHooksScope(Make make);
  ~SavedHooksScope();
  SavedHooksScope(const SavedHooksScope&) = delete;
  SavedHooksScope& operator=(const SavedHooksScope&) = delete;

 private:
  Make make_;
  const Make* outer_;
};

// The form in which a technique keeps a tensor that autograd saves.
class PackedTensor {
 public:
  PackedTensor() = default;
  virtual ~PackedTensor() = default;
  PackedTensor(const PackedTensor&) = delete;
  PackedTensor& operator=(const PackedTensor&) = delete;
  // called in backward; returns the elements that were packed, in the same order
  virtual at::Tensor Unpack() = 0;
};
class SavedTensorPacker {
 public:
  SavedTensorPacker() = default;
  virtual ~SavedTensorPacker() = default;
  SavedTensorPacker(const SavedTensorPacker&) = delete;
  SavedTensorPacker& operator=(const SavedTensorPacker&) = delete;
  // Whether the tensor is packed; false: it is saved as it is.
  virtual bool Takes(const at::Tensor& tensor) const = 0;
  // `tensor`: the elements in one dimension, in memory order; of a view with gaps, a copy without
  // them. A tensor that several nodes save is passed only once.
  virtual std::unique_ptr<PackedTensor> Pack(const at::Tensor& tensor) = 0;
};
// While this scope exists, `packer` packs the tensors that are saved on this thread.
class PackerScope {
 public:
  explicit PackerScope(SavedTensorPacker* packer);
  ~PackerScope();
  PackerScope(const PackerScope&) = delete;
  PackerScope& operator=(const PackerScope&) = delete;
};

// For tests: how often hooks packed, unpacked and were released in this process.
struct SavedTensorCounts {
  uint64_t packed = 0, unpacked = 0, released = 0;
};
SavedTensorCounts SavedTensorTotals();

}  // namespace vramscope::trainer
