// The interface between the training loop and a backend. The loop, models and optimizers are the
// same for all backends: they only create tensors on device().
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

// Describes a rehearsal: a micro-batch that is executed before the run, with only the
// model's first two and last two units. A unit is a layer, or several that are checkpointed
// together.
struct ShortenedStack {
  // for each unit of the whole model, the paths of its layers
  std::vector<std::vector<std::string>> units;
  std::vector<std::string> trained;  // full names of the trained tensors
  std::vector<std::string> strings;  // indexed by the string ids of the rehearsal's recorder
};

// Records one micro-batch. Later micro-batches that begin in the same state need not be executed:
// Play() repeats the recorded allocations and frees and sets the gradients.
class MicroBatchTape {
 public:
  virtual ~MicroBatchTape() = default;
  virtual void Record() = 0;
  // Of all allocations since Record(), only workspaces and gradients of `trained` may be left.
  virtual void Stop(std::span<const at::Tensor> trained) = 0;
  virtual bool ready() const = 0;
  virtual void Play(std::span<const at::Tensor> trained) = 0;
  // Extends the tape of a rehearsal to all layers, for the run that `recorder` records. Returns
  // false if the events of the omitted layers cannot be derived.
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
  // Returns the real GPU that Prepare() found, or nullopt if the run's settings choose the GPU.
  virtual std::optional<run::DeviceProfile> gpu() const { return std::nullopt; }
  virtual Clock clock() = 0;
  // Must be called before the first backward on any device, because the first backward counts the
  // devices. Start() calls Prepare(), too.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  // Call before a run. Resets the allocator for this GPU and sets virtual time to zero. `recorder`
  // must outlive the run. An allocation beyond the GPU's memory is recorded as OutOfMemory but then
  // succeeds, so that the trace shows how much memory is missing. `conf` has the settings of the
  // caching allocator, which the cpu backend ignores.
  virtual absl::Status Start(const run::DeviceProfile& profile, const run::AllocConf& conf,
                             Recorder& recorder) = 0;
  absl::Status Start(const run::DeviceProfile& profile, Recorder& recorder) {
    return Start(profile, {}, recorder);
  }
  // Returns null if the backend computes values, because a tape could not compute them again.
  virtual std::unique_ptr<MicroBatchTape> MakeTape(Recorder&) { return nullptr; }
  // Whether the tapes of this backend can be extended (MicroBatchTape::Extend).
  virtual bool rehearses() const { return false; }
  // Joins a group of `ranks` ranks as rank `rank` for one run. The other ranks have no processes,
  // and are assumed to have the same values as this one. Throws c10::Error.
  virtual c10::intrusive_ptr<c10d::ProcessGroup> JoinRanks(int rank, int ranks) = 0;
  // Called at the end of a phase. Waits until the device has finished its work, so that the work
  // counts as part of this phase.
  virtual void FinishWork() {}
  // Call after all tensors of the run are freed. Frees workspaces. Returns kInternal if allocations
  // are left.
  virtual absl::Status Stop() = 0;
};

// Each backend exists once per process and is never destroyed. For CUDA, see cuda/cuda_backend.h.
Backend& CpuBackend();

}  // namespace vramscope::trainer
