// Simulates a small training run on the project's allocator model, and records it as a plan would:
// parameters, and steps of forward, backward and optimizer. The categories of activations and
// gradients are set by later changes of category (kRetag events).
#pragma once

#include <cstdint>
#include <memory>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct SimulatedRun {
  uint32_t seed = 1;
  int steps = 3;
  int layers = 6;
  // If there are several streams, blocks are also used on others, and their frees complete
  // later.
  uint32_t streams = 1;
  bool expandable = false;
  uint64_t device_memory_bytes = 0;  // 0: no limit; otherwise the run ends if it does not fit
};

std::shared_ptr<const trace::Trace> Simulate(const SimulatedRun& run);

}  // namespace vramscope::exporters
