// Values over time that are not the allocator's curves: counters, and page-locked host memory,
// which the driver allocates outside of the GPUs.
//
//   for (const Series& s : SeriesOf(trace)) s.At(time_ns);
//
// Immutable after construction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/query/level_of_detail.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

struct Series {
  std::string key, title, about;
  std::string largest;  // largest part at the host's peak, and the part's call site; "": unknown
  bool bytes = false;   // whether the values are bytes; if not, they are plain numbers
  bool little = false;  // of little interest: the lane is folded by default
  uint64_t highest = 0;
  uint64_t changes = 0;
  // The values are in the index's curve for allocated bytes. Its other curves are empty.
  std::shared_ptr<const query::CurveIndex> index;
  std::shared_ptr<const analysis::MemoryCurves> curve;

  uint64_t At(int64_t time_ns) const;
};

std::vector<Series> SeriesOf(const trace::Trace& trace);

// The allocated and reserved memory of one device of a trace.
struct DeviceMemory {
  uint8_t device = 0;
  std::string name;
  uint64_t peak = 0, reserved = 0;  // the highest allocated and reserved bytes
  int64_t peak_ns = 0;
  std::shared_ptr<const query::CurveIndex> index;
  std::shared_ptr<const analysis::MemoryCurves> curve;  // without categories
};
// Returns the memory of each device, or nothing if the trace has only one device.
std::vector<DeviceMemory> MemoryOfDevices(const std::shared_ptr<const trace::Trace>& whole);

}  // namespace vramscope::ui::timeline
