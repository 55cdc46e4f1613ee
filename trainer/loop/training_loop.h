// The training loop: the same code for every backend.
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

// Tapes of micro-batches that were executed before the run, with only the first and last layers of
// the model. This needs a backend that computes no values, on which the omitted layers allocate and
// free as the executed layers do.
struct Rehearsal {
  std::unique_ptr<MicroBatchTape> tapes[2];  // without and with existing gradients
  ShortenedStack stack;
};

// Starts `backend`, executes a rehearsal and stops the backend; records nothing. Returns null if
// this saves no time, or if the backend can't repeat micro-batches. Throws only CancelledError.
std::unique_ptr<Rehearsal> Rehearse(const run::RunConfig& config, Model& model,
                                    Techniques& techniques, Backend& backend,
                                    const run::DeviceProfile& device, const RunHooks& hooks);

// Refuses everything in `config` that can be refused without running it: sizes, model, targets of
// LoRA, trained parameters, combinations. kInvalidArgument names the key.
absl::StatusOr<std::unique_ptr<Model>> BuildModel(const run::RunConfig& config,
                                                  Techniques& techniques);

// Thrown if a run turns out to be too long, or its trace too large. `status` is
// kInvalidArgument.
struct RunRefused {
  absl::Status status;
};
// Maximum number of events in a run. A trace of so many events takes about 1.5 GB in memory.
inline constexpr uint64_t kMaxRunEvents = 10'000'000;

// Materializes the model and trains it for config.steps. On a backend that computes, each step ends
// with a marker "loss=2.345". Throws LibTorch's exceptions, CancelledError, and RunRefused as soon
// as a micro-batch or a step shows that the run would be too long. On return or exception,
// everything on the device is freed except the model's own tensors.
void RunTraining(const run::RunConfig& config, Model& model, Techniques& techniques,
                 Backend& backend, Recorder& recorder, const RunHooks& hooks,
                 std::unique_ptr<Rehearsal> rehearsal = nullptr);

}  // namespace vramscope::trainer
