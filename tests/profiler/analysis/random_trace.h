// Generates traces for tests and benchmarks. They have the structure of a training run, with random
// sizes and lifetimes.
#pragma once

#include <cstdint>
#include <memory>

#include "profiler/trace/trace.h"

namespace vramscope::analysis {

struct RandomTraceOptions {
  uint64_t seed = 1;
  int steps = 3;
  int micro_batches = 2;
  int layers = 6;         // modules in a forward pass
  int ops_per_layer = 8;  // each makes two allocations; most are freed within the op
  uint64_t device_memory_bytes = 0;
  bool expandable = false;  // expandable_segments:True
  bool segments = true;     // if false, addresses belong to no segment, as with the cpu backend
  bool tear_down = true;    // everything is freed at the end
  bool slices = true;       // module and op slices
};

// The trace contains allocations, the request and the completion of each free (sometimes far
// apart), changes of category, segment allocations and frees, slices (phases, steps, micro-batches,
// modules, and ops, on two threads), and the markers of the begin and the end of the training.
std::shared_ptr<const trace::Trace> MakeRandomTrace(const RandomTraceOptions& options);

}  // namespace vramscope::analysis
