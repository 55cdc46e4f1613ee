// The end and the length of a trace in time. A GPU's kernels may end long after the last event of
// the allocator.
//
//   Milliseconds(LengthNs(trace) / 1e6)
//
// Pure functions; thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// Returns the end of the last event or activity. Counters and overhead do not count, because a
// profiler may record them when the process ends, seconds after the run.
inline int64_t EndNs(const Trace& trace) {
  int64_t end = trace.end_ns();
  for (uint32_t row = 0; row < trace.activities.size(); ++row)
    if (const ActivityKind kind = trace.activities.kind[row];
        kind != ActivityKind::kCounter && kind != ActivityKind::kOverhead)
      end = std::max(end, trace.activities.end_ns[row]);
  return end;
}
inline int64_t LengthNs(const Trace& trace) { return EndNs(trace) - trace.begin_ns(); }

}  // namespace vramscope::trace
