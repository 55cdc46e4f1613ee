// Names for activities: a short name for the rectangle, and the name of the stream or thread.
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

// Returns the text on an activity's rectangle, such as "sgemm_128x64" or "host → device 12 MiB".
std::string ActivityLabel(const trace::Trace& trace, uint32_t activity);
// Returns "kernel", "copy", "runtime call", ...
std::string_view ActivityNoun(trace::ActivityKind kind);
// Returns "stream 7 of cuda:0", "thread 4711" or, with several ranks, "thread 4711 of rank 3".
std::string PlaceOf(const trace::Trace& trace, uint32_t activity);
std::string ThreadName(const trace::Trace& trace, uint32_t thread);
// Returns the name of a counter without its unit. For trace::kMemoryCounters, the name is a
// translated label.
std::string CounterLabel(std::string_view name);

}  // namespace vramscope::ui::timeline
