// Values of PyTorch's memory counters (torch.cuda.max_memory_allocated() and the like) that a
// watched program read, each with its place among the events. They can be compared with the figures
// of the trace. Stored as markers in the file (proto/FORMAT.md, "Kinds").
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

// The name of the marker for a reading; the marker's event has the bytes and the device.
std::string CounterMarker(std::string_view counter);
// The counter that the marker names; "" for a marker of another kind.
std::string_view CounterOfMarker(std::string_view marker);

struct CounterReading {
  std::string_view counter;  // "torch.cuda.max_memory_allocated"; valid as long as the trace
  uint8_t device = 0;
  uint64_t bytes = 0;
  EventIndex event = 0;
  int64_t time_ns = 0;
};
// All readings, in order of their events.
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
