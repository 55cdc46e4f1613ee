// What a watched program itself read of PyTorch's memory counters
// (torch.cuda.max_memory_allocated() and the like), each reading with its place among the events:
// what the program saw, beside what the trace has. Markers in the file (proto/FORMAT.md, "Kinds").
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

// The name of the marker that stands for a reading; its bytes and device are the event's.
std::string CounterMarker(std::string_view counter);
// The counter of such a marker; "" for any other.
std::string_view CounterOfMarker(std::string_view marker);

struct CounterReading {
  std::string_view counter;  // "torch.cuda.max_memory_allocated"; lives as long as the trace
  uint8_t device = 0;
  uint64_t bytes = 0;
  EventIndex event = 0;
  int64_t time_ns = 0;
};
// In their order.
std::vector<CounterReading> CounterReadingsOf(const Trace& trace);

// The readings of one counter of one device.
struct CounterSummary {
  std::string_view counter;
  uint8_t device = 0;
  uint64_t readings = 0;
  uint64_t most = 0;
  CounterReading last;
};
// By counter and device.
std::vector<CounterSummary> SummarizeCounters(const Trace& trace);

}  // namespace vramscope::trace
