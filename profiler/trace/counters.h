// Values that a watched program read from PyTorch's memory counters, such as
// torch.cuda.max_memory_allocated(). Each value has its place among the events, so it can be
// compared with the trace's figures. The file stores them as markers (proto/FORMAT.md, "Kinds").
//
//   for (const CounterSummary& c : SummarizeCounters(trace)) print(c.counter, c.last);
//
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// Returns the name of the marker for a reading. The marker's event has the bytes and the device.
std::string CounterMarker(std::string_view counter);
// Returns the counter that the marker names, or "" if the marker is for something else.
std::string_view CounterOfMarker(std::string_view marker);

struct CounterReading {
  std::string_view counter;  // "torch.cuda.max_memory_allocated"; valid as long as the trace
  uint8_t device = 0;
  uint64_t bytes = 0;
  EventIndex event = 0;
  int64_t time_ns = 0;
};
// Returns all readings, in order of their events.
std::vector<CounterReading> CounterReadingsOf(const Trace& trace);

// The readings of one counter on one device.
struct CounterSummary {
  std::string_view counter;
  uint8_t device = 0;
  uint64_t readings = 0;
  uint64_t most = 0;
  CounterReading last;
};
// Sorted by counter and device.
std::vector<CounterSummary> SummarizeCounters(const Trace& trace);

}  // namespace vramscope::trace
