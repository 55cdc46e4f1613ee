// What can be said of a run before it is started: whether its settings and its model go together,
// and what its figures take for granted. Asked by the command line, the window and the trainer.
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

// The model, when everything about `config` is in order that needs no LibTorch to be judged.
// kInvalidArgument names the key and what to write instead.
absl::StatusOr<ModelConfig> CheckRun(const RunConfig& config);

struct Assumption {
  std::string what;    // a sentence without its full stop
  std::string where;   // what it is about or where it comes from: "config.json: torch_dtype"
  uint64_t bytes = 0;  // how much it is, where that is known
};

// Of the weights alone, which `estimate` counts.
std::vector<Assumption> WeightAssumptions(const RunConfig& config, const ModelConfig& model);
// Of the whole run; `config` is one that CheckRun() has let pass.
std::vector<Assumption> Assumptions(const RunConfig& config, const ModelConfig& model);

// That the CUDA context beside the allocator's memory is as large as `device`'s in the device
// table.
Assumption ContextAssumption(const DeviceProfile& device);
// That a plan's host takes as long for a launch as any other: emulated/core/clock.h, of the loop
// and of programs without Python.
Assumption HostAssumption();

}  // namespace vramscope::run
