// A training run as a plan would record it, small: parameters, steps of forward, backward and
// optimizer, on the project's own model of the allocator. Activations and gradients become what
// they are.
#pragma once

#include <cstdint>
#include <memory>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct SimulatedRun {
  uint32_t seed = 1;
  int steps = 3;
  int layers = 6;
  // Streams: with more than one, blocks are used on others too and their frees come later.
  uint32_t streams = 1;
  bool expandable = false;
  uint64_t device_memory_bytes = 0;  // 0: no limit; else the run ends when it does not fit
};

std::shared_ptr<const trace::Trace> Simulate(const SimulatedRun& run);

}  // namespace vramscope::exporters
