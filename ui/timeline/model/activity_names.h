// Returns names for activities: a short name for the rectangle, and the stream's or thread's name.
//
//   ActivityLabel(trace, row);   "vectorized_elementwise_kernel"
//
// Pure functions of an immutable trace; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/query/activity_index.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

// The text on an activity's rectangle, such as "sgemm_128x64" or "host → device 12 MiB".
std::string ActivityLabel(const trace::Trace& trace, uint32_t activity);
// "kernel", "copy", "runtime call", ...
std::string_view ActivityNoun(trace::ActivityKind kind);
// "stream 7 of cuda:0", "thread 4711" or, with several ranks, "thread 4711 of rank 3".
std::string PlaceOf(const trace::Trace& trace, uint32_t activity);
std::string ThreadName(const trace::Trace& trace, uint32_t thread);
// The name of a counter without its unit. trace::kMemoryCounters have translated labels.
std::string CounterLabel(std::string_view name);

}  // namespace vramscope::ui::timeline
