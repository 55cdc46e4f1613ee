// The interface between the training loop and a backend. Loop, models and optimizers are the same
// for all backends: they create tensors on device() and do not depend on the backend.
//
//   Backend& backend = CudaBackend();
//   RETURN_IF_ERROR(backend.Start(profile, conf, recorder));   // recording starts
//   ...                                                        // tensors on backend.device()
//   RETURN_IF_ERROR(backend.Stop());
#pragma once

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>
#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/run/alloc_conf.h"
#include "profiler/run/device_profile.h"
#include "trainer/capture/recorder.h"

namespace c10d {
class ProcessGroup;
}

namespace vramscope::trainer {

// The layers of a model in a rehearsal: a micro-batch that is executed before the run, with only
// the first two and the last two units. A unit is a layer, or layers that are checkpointed
// together.
struct ShortenedStack {
  // paths of the layers of each unit, for the whole model
  std::vector<std::vector<std::string>> units;
  std::vector<std::string> trained;  // full names of the trained tensors
  std::vector<std::string> strings;  // indexed by the string ids of the rehearsal's recorder
};

// The record of one micro-batch. It replaces the execution of later micro-batches that begin in the
// same state: its allocations and frees are repeated, and the gradients are set.
class MicroBatchTape {
 public:
  virtual ~MicroBatchTape() = default;
  virtual void Record() = 0;
  // Of the allocations made since Record(), only workspaces and gradients of `trained` may remain.
  virtual void Stop(std::span<const at::Tensor> trained) = 0;
  virtual bool ready() const = 0;
  virtual void Play(std::span<const at::Tensor> trained) = 0;
  // Extends a tape from a rehearsal, so that in the run that `recorder` records it plays all
  // layers. Returns false if the omitted layers' events cannot be derived.
  virtual bool Extend(const ShortenedStack&, Recorder& recorder) {
    static_cast<void>(recorder);
    return false;
  }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual c10::Device device() const = 0;
  virtual bool measured() const = 0;
  // The real GPU, after Prepare() has found it; nullopt on a backend for which the run names a GPU.
  virtual std::optional<run::DeviceProfile> gpu() const { return std::nullopt; }
  virtual Clock clock() = 0;
  // Prepares for LibTorch's count of devices, which happens in the first backward on any device.
  // Start() also calls this.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  // Call before a run. Resets the allocator state for this GPU and sets virtual time to zero.
  // `recorder` must outlive the run. An allocation beyond the GPU's memory is recorded as
  // OutOfMemory but then succeeds, so that the trace shows how much memory is missing. `conf`:
  // settings of the caching allocator; the cpu backend ignores them.
  virtual absl::Status Start(const run::DeviceProfile& profile, const run::AllocConf& conf,
                             Recorder& recorder) = 0;
  absl::Status Start(const run::DeviceProfile& profile, Recorder& recorder) {
    return Start(profile, {}, recorder);
  }
  // Returns null if the backend computes values, because a tape cannot repeat the computation.
  virtual std::unique_ptr<MicroBatchTape> MakeTape(Recorder&) { return nullptr; }
  // Whether the tapes of this backend can be extended (MicroBatchTape::Extend).
  virtual bool rehearses() const { return false; }
  // Joins a group of `ranks` ranks as rank `rank`, for one run. There is no process for another
  // rank; the values of other ranks are assumed to equal this rank's. Throws c10::Error.
  virtual c10::intrusive_ptr<c10d::ProcessGroup> JoinRanks(int rank, int ranks) = 0;
  // Called at the end of a phase. Waits until the device has finished its work, so that the work
  // counts in this phase.
  virtual void FinishWork() {}
  // Call after all tensors of the run are freed. Frees workspaces. Returns kInternal if allocations
  // are left.
  virtual absl::Status Stop() = 0;
};

// One per process, never destroyed. CudaBackend() is declared in cuda/cuda_backend.h.
Backend& CpuBackend();

}  // namespace vramscope::trainer
