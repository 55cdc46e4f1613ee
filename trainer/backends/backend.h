// What the training loop needs of a backend. The loop, models and optimizers are the same code for
// all; they create tensors on device() and never ask which backend it is.
//
//   Backend& backend = CudaBackend();
//   RETURN_IF_ERROR(backend.Start(profile, conf, recorder));   // allocator taps on
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

// A stack of layers of which a micro-batch was rehearsed with the first two and the last two units
// alone (a unit: layers that are checkpointed together), and what the recorder of that rehearsal
// called things.
struct ShortenedStack {
  std::vector<std::vector<std::string>> units;  // of the whole: the paths of each unit's layers
  std::vector<std::string> trained;             // full names of the trained tensors
  std::vector<std::string> strings;             // by the rehearsal's ids
};

// One micro-batch kept, so that a later one that begins in the same state need not be executed: its
// requests are made again and the gradients it leaves behind are put into place.
class MicroBatchTape {
 public:
  virtual ~MicroBatchTape() = default;
  virtual void Record() = 0;
  // `trained`: the tensors whose gradients are all that a micro-batch may leave behind.
  virtual void Stop(std::span<const at::Tensor> trained) = 0;
  virtual bool ready() const = 0;
  virtual void Play(std::span<const at::Tensor> trained) = 0;
  // Recorded in a rehearsal: plays all layers from now on, in the run that `recorder` records.
  // False: what the layers ask for that were left out does not follow from the others.
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
  // The card that is there, once Prepare() has found it; nothing where it is the run's choice.
  virtual std::optional<run::DeviceProfile> card() const { return std::nullopt; }
  virtual Clock clock() = 0;
  // What has to be there before LibTorch counts devices, which the first backward on any device
  // does. Done by Start(), too.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  // Before a run: fresh allocator state for this GPU, virtual time at zero. `recorder` outlives the
  // run. A request beyond the GPU's memory is recorded (OutOfMemory) and then granted all the same,
  // so that the picture shows by how much it does not fit.
  // `conf`: settings of the caching allocator; mean nothing to the cpu backend.
  virtual absl::Status Start(const run::DeviceProfile& profile, const run::AllocConf& conf,
                             Recorder& recorder) = 0;
  absl::Status Start(const run::DeviceProfile& profile, Recorder& recorder) {
    return Start(profile, {}, recorder);
  }
  // Null: micro-batches differ in more than their requests (a backend that computes).
  virtual std::unique_ptr<MicroBatchTape> MakeTape(Recorder&) { return nullptr; }
  // Whether its tapes can be extended (ShortenedStack).
  virtual bool rehearses() const { return false; }
  // A group of `ranks` in which this process, alone, is rank `rank`; for one run. The values of the
  // others are taken to be this one's. Throws c10::Error.
  virtual c10::intrusive_ptr<c10d::ProcessGroup> JoinRanks(int rank, int ranks) = 0;
  // Where time is counted: until the device has done what it was given, so that a phase's time is
  // its own.
  virtual void FinishWork() {}
  // After everything of the run is gone: frees workspaces; kInternal when allocations are left.
  virtual absl::Status Stop() = 0;
};

// One a process, kept for its life; CudaBackend() is in cuda/cuda_backend.h.
Backend& CpuBackend();

}  // namespace vramscope::trainer
