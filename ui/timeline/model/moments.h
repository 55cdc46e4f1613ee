// Returns times and durations of a trace as text. If a trace has no times (TraceInfo::has_times),
// it only counts entries, and the texts state entries instead of seconds.
//
//   TimeTextOf(trace, trace.allocations.begin_ns[i])     "71.20 ms", "entry 1,204"
//   LengthOf(trace, end_ns - begin_ns)                 "85.5 ms", "312 entries"
//
// Pure functions of an immutable trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// Returns the time since the trace's begin with the precision of `resolution_ns`. `time_ns` is a
// time of the trace.
std::string TimeTextOf(const trace::Trace& trace, int64_t time_ns, int64_t resolution_ns = 10'000);
std::string LengthOf(const trace::Trace& trace, int64_t ns);

}  // namespace vramscope::ui::timeline
