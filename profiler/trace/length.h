// The length of a trace in time.
//
//   Milliseconds(LengthNs(trace) / 1e6)
//
// Pure function; thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// Returns the time from the first event or activity to the end of the last one, in nanoseconds. A
// GPU's kernels may end long after the last event of the allocator. Outline (outline.h) computes
// the same length without reading the events.
inline int64_t LengthNs(const Trace& trace) {
  int64_t end = trace.end_ns();
  for (const int64_t ns : trace.activities.end_ns) end = std::max(end, ns);
  return end - trace.begin_ns();
}

}  // namespace vramscope::trace
