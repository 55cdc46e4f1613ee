// The training loop, which is the same code for all backends.
//
//   Techniques techniques = MakeTechniques(config);
//   ASSIGN_OR_RETURN(auto model, BuildModel(config, techniques));  // allocates no tensors yet
//   RunTraining(config, *model, techniques, backend, recorder, hooks);  // throws as LibTorch does
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "profiler/run/run_config.h"
#include "trainer/backends/backend.h"
#include "trainer/capture/recorder.h"
#include "trainer/models/model.h"
#include "trainer/techniques/technique.h"
#include "trainer/trainer.h"

namespace vramscope::trainer {

using Techniques = std::vector<std::unique_ptr<Technique>>;

// Tapes of micro-batches that were executed before the run with only the first and last layers of
// the model. The backend must compute no values. Only then do the omitted layers allocate and free
// in the same way as the executed layers.
struct Rehearsal {
  std::unique_ptr<MicroBatchTape> tapes[2];  // without and with existing gradients
  ShortenedStack stack;
};

// Starts `backend`, executes a rehearsal, and stops the backend. Records nothing. Returns null if
// this saves no time, or if the backend cannot repeat micro-batches. Throws only CancelledError.
std::unique_ptr<Rehearsal> Rehearse(const run::RunConfig& config, Model& model,
                                    Techniques& techniques, Backend& backend,
                                    const run::DeviceProfile& device, const RunHooks& hooks);

// Builds the model without tensors. Checks all of `config` that can be checked without a run:
// sizes, model, LoRA's targets, trained parameters, combinations. kInvalidArgument names the key.
absl::StatusOr<std::unique_ptr<Model>> BuildModel(const run::RunConfig& config,
                                                  Techniques& techniques);

// Thrown during a run that proves to be too long, or whose trace is too large
// (kInvalidArgument).
struct RunRefused {
  absl::Status status;
};
// The maximum number of events in a run. A trace of this length takes 1.5 GB of memory.
inline constexpr uint64_t kMaxRunEvents = 10'000'000;

// Materializes the model and trains it for config.steps. If the backend computes, each step ends
// with a marker "loss=2.345". Throws LibTorch's exceptions and CancelledError. Throws RunRefused as
// soon as a micro-batch or step shows that the run would be too long. On return or exception, all
// device memory except the model's own tensors is freed.
void RunTraining(const run::RunConfig& config, Model& model, Techniques& techniques,
                 Backend& backend, Recorder& recorder, const RunHooks& hooks,
                 std::unique_ptr<Rehearsal> rehearsal = nullptr);

}  // namespace vramscope::trainer
