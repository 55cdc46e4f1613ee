// Moments and lengths of a trace as text. A file may have an order and no times
// (TraceInfo::has_times): it then counts entries, and nothing is said in seconds.
//
//   MomentOf(trace, trace.allocations.begin_ns[i])     "71.20 ms", "entry 1,204"
//   LengthOf(trace, end_ns - begin_ns)                 "85.5 ms", "312 entries"
//
// Pure functions of an immutable trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// `time_ns` as the trace has it; times are said from its begin, to the precision of
// `resolution_ns`.
std::string MomentOf(const trace::Trace& trace, int64_t time_ns, int64_t resolution_ns = 10'000);
std::string LengthOf(const trace::Trace& trace, int64_t ns);

}  // namespace vramscope::ui::timeline
