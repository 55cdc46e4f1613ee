// Reports LibTorch's own events to the recorder: every operator and backward node (RecordFunction),
// every tensor that autograd saves and releases (saved-tensor hooks), and every gradient that is
// accumulated. Backends report allocations.
//
//   Taps taps({.ops = true});            // while it exists, reports to Recorder::Current()
//   TagStorage(weight, trace::Category::kParameter, "parameter");
//   WatchGradients(trained);             // the trained tensors
//
// There may be only one Taps in a process. Create and destroy it while no op or backward runs.
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
  // If true, sets hooks for saved tensors. With such hooks, LibTorch no longer checks whether saved
  // tensors were changed in place.
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

// Returns the recorder's key of the tensor's storage, or 0 if there is no storage.
inline uint64_t StorageKey(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return 0;
  return reinterpret_cast<uint64_t>(tensor.storage().data());
}

// Sets the category of the tensor's whole storage. Does nothing if the tensor is undefined.
void TagStorage(const at::Tensor& tensor, trace::Category category, std::string_view why);

// Whenever autograd has accumulated a gradient of one of these leaves, tags the gradient's storage
// as Gradient and calls `then` with the leaf. A second call for a parameter replaces the first.
void WatchGradients(const std::vector<at::Tensor>& parameters,
                    std::function<void(const at::Tensor& leaf)> then = nullptr);

// While this object exists, its tensor counts as saved for backward.
class SavedMark {
 public:
  explicit SavedMark(const at::Tensor& tensor);
  ~SavedMark();
  SavedMark(const SavedMark&) = delete;
  SavedMark& operator=(const SavedMark&) = delete;

 private:
  uint64_t key_ = 0, serial_ = 0;
};

// While this scope exists, `make` creates the hooks of tensors that are saved on this thread. These
// hooks replace the default hooks, and must report the tensors that they save (SavedMark).
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

// A tensor that autograd saves, in the form in which a technique keeps it.
class PackedTensor {
 public:
  PackedTensor() = default;
  virtual ~PackedTensor() = default;
  PackedTensor(const PackedTensor&) = delete;
  PackedTensor& operator=(const PackedTensor&) = delete;
  // Called in backward. Returns the elements that were packed, in the same order.
  virtual at::Tensor Unpack() = 0;
};
class SavedTensorPacker {
 public:
  SavedTensorPacker() = default;
  virtual ~SavedTensorPacker() = default;
  SavedTensorPacker(const SavedTensorPacker&) = delete;
  SavedTensorPacker& operator=(const SavedTensorPacker&) = delete;
  // Returns whether to pack the tensor. If not, it is saved as it is.
  virtual bool Takes(const at::Tensor& tensor) const = 0;
  // `tensor` has one dimension, with the elements in memory order. (A view with gaps is copied to
  // close them.) If several nodes save a tensor, it is passed only once.
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

// For tests: how often hooks of this process packed, unpacked, and were released.
struct SavedTensorCounts {
  uint64_t packed = 0, unpacked = 0, released = 0;
};
SavedTensorCounts SavedTensorTotals();

}  // namespace vramscope::trainer
