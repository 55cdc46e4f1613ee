// What LibTorch itself can tell the recorder: every operator and backward node (RecordFunction),
// every tensor that autograd saves and lets go (saved-tensor hooks), every accumulated gradient.
// Allocators are the backends' business.
//
//   Taps taps({.ops = true});            // for its life, reporting to Recorder::Current()
//   TagStorage(weight, trace::Category::kParameter, "parameter");
//   WatchGradients(model->parameters());
//
// One Taps at a time in a process, made and destroyed while no op or backward runs.
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
  bool ops = true;  // without: allocations name no op, backward finds no module
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

// What finds the allocation of a tensor's storage in the recorder; 0: none.
inline uint64_t StorageKey(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return 0;
  return reinterpret_cast<uint64_t>(tensor.storage().data());
}

// The whole storage counts as `category` from now on. Undefined tensors are ignored.
void TagStorage(const at::Tensor& tensor, trace::Category category, std::string_view why);

// From now on, whenever autograd has accumulated into one of these leaves, the storage of its
// gradient counts as Gradient, and `then` is called with the leaf. Once per parameter; a second
// call replaces the first.
void WatchGradients(const std::vector<at::Tensor>& parameters,
                    std::function<void(const at::Tensor& leaf)> then = nullptr);

// Counts as saved for backward from here on, and no longer when it is gone.
class SavedMark {
 public:
  explicit SavedMark(const at::Tensor& tensor);
  ~SavedMark();
  SavedMark(const SavedMark&) = delete;
  SavedMark& operator=(const SavedMark&) = delete;

 private:
  uint64_t key_ = 0, serial_ = 0;
};

// For its life, autograd asks `make` for the hooks of what it saves on this thread, in place of the
// usual ones: whoever makes them says what is saved (SavedMark).
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

// What a technique keeps in place of a tensor that autograd saves.
class PackedTensor {
 public:
  PackedTensor() = default;
  virtual ~PackedTensor() = default;
  PackedTensor(const PackedTensor&) = delete;
  PackedTensor& operator=(const PackedTensor&) = delete;
  virtual at::Tensor Unpack() = 0;  // in backward; as many elements, in the same order
};
class SavedTensorPacker {
 public:
  SavedTensorPacker() = default;
  virtual ~SavedTensorPacker() = default;
  SavedTensorPacker(const SavedTensorPacker&) = delete;
  SavedTensorPacker& operator=(const SavedTensorPacker&) = delete;
  // False: it is kept as it is.
  virtual bool Takes(const at::Tensor& tensor) const = 0;
  // `tensor`: [elements], in the order of memory, or a copy without the gaps of a view that has
  // some; saved by several nodes, it comes once.
  virtual std::unique_ptr<PackedTensor> Pack(const at::Tensor& tensor) = 0;
};
// For its life, what is saved on this thread goes through `packer`.
class PackerScope {
 public:
  explicit PackerScope(SavedTensorPacker* packer);
  ~PackerScope();
  PackerScope(const PackerScope&) = delete;
  PackerScope& operator=(const PackerScope&) = delete;
};

// For the tests: how often hooks packed, unpacked and were released since the process began.
struct SavedTensorCounts {
  uint64_t packed = 0, unpacked = 0, released = 0;
};
SavedTensorCounts SavedTensorTotals();

}  // namespace vramscope::trainer
