// Checks a run before it starts: do its settings fit each other and its model, and which
// assumptions do its figures contain? Used by the command line, the window and the trainer.
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
  std::string what;    // a sentence without a full stop
  std::string where;   // what the assumption is about, or its source: "config.json: torch_dtype"
  uint64_t bytes = 0;  // bytes that depend on the assumption, if known
};

// Returns only the assumptions about the weights, because `estimate` counts nothing else.
std::vector<Assumption> WeightAssumptions(const RunConfig& config, const ModelConfig& model);
// Returns the assumptions about the whole run. `config` must have passed CheckRun().
std::vector<Assumption> Assumptions(const RunConfig& config, const ModelConfig& model);

// Returns this assumption: the CUDA context, which is outside the allocator's memory, has the size
// in the device table for `device`.
Assumption ContextAssumption(const DeviceProfile& device);
// Returns this assumption: in a plan, the host needs the same time for a launch on every computer
// (emulated/core/clock.h). It is made for the embedded loop and for programs without Python.
Assumption HostAssumption();

}  // namespace vramscope::run
