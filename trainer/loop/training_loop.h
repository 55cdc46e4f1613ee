// The training loop: the same code for every backend.
//
//   Techniques techniques = MakeTechniques(config);
//   ASSIGN_OR_RETURN(auto model, BuildModel(config, techniques));  // shapes, adapters, what trains
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

// Micro-batches that were tried with a few layers of the stack before the run began: where nothing
// is computed, the others ask for the same.
struct Rehearsal {
  std::unique_ptr<MicroBatchTape> tapes[2];  // without gradients, with
  ShortenedStack stack;
};

// Null where there is nothing to be gained, or the backend does not repeat. A run of its own on
// `backend`, which records nothing. Throws CancelledError alone.
std::unique_ptr<Rehearsal> Rehearse(const run::RunConfig& config, Model& model,
                                    Techniques& techniques, Backend& backend,
                                    const run::DeviceProfile& device, const RunHooks& hooks);

// Everything about `config` that can be refused without running it: sizes, model, targets of LoRA,
// what is trained, combinations. kInvalidArgument names the key.
absl::StatusOr<std::unique_ptr<Model>> BuildModel(const run::RunConfig& config,
                                                  Techniques& techniques);

// A run that turns out to be one that nobody should wait for or hold in memory; kInvalidArgument.
struct RunRefused {
  absl::Status status;
};
// Events that a run may come to: what a trace of them takes in memory is some 1.5 GB.
inline constexpr uint64_t kMaxRunEvents = 10'000'000;

// Materialises the model and trains it for config.steps. On a backend that computes, each step
// ends with a marker "loss=2.345". Throws LibTorch's exceptions, CancelledError, and RunRefused as
// soon as its first micro-batch or a step shows that the whole would be too long; everything on the
// device except the model's own tensors is gone when it returns or throws.
void RunTraining(const run::RunConfig& config, Model& model, Techniques& techniques,
                 Backend& backend, Recorder& recorder, const RunHooks& hooks,
                 std::unique_ptr<Rehearsal> rehearsal = nullptr);

}  // namespace vramscope::trainer
