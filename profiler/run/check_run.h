// Checks of a run before it starts: whether its settings and its model go together, and what its
// figures assume. Used by the command line, the window and the trainer.
//
//   ASSIGN_OR_RETURN(ModelConfig model, CheckRun(config));
//   for (const Assumption& a : Assumptions(config, model)) ...
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/run/model_config.h"
#include "profiler/run/run_config.h"

namespace vramscope::run {

// Returns the model if `config` passes all checks that need no LibTorch. kInvalidArgument names the
// key and suggests a valid value.
absl::StatusOr<ModelConfig> CheckRun(const RunConfig& config);

struct Assumption {
  std::string what;    // a sentence without the full stop
  std::string where;   // its subject or origin: "config.json: torch_dtype"
  uint64_t bytes = 0;  // the size, if known
};

// Assumptions about the weights only, which are what `estimate` counts.
std::vector<Assumption> WeightAssumptions(const RunConfig& config, const ModelConfig& model);
// Assumptions about the whole run; `config` must have passed CheckRun().
std::vector<Assumption> Assumptions(const RunConfig& config, const ModelConfig& model);

// The assumption that the CUDA context, outside the allocator's memory, has the size in the device
// table for `device`.
Assumption ContextAssumption(const DeviceProfile& device);
// The assumption that the host of a plan needs the same time for a launch on every computer
// (emulated/core/clock.h). It applies to the embedded loop and to programs without Python.
Assumption HostAssumption();

}  // namespace vramscope::run
