// Values over time beside the allocator's: what counters say, and what the driver has given of a
// memory that is not the device's (page-locked memory of the host).
//
//   for (const Series& s : SeriesOf(trace)) s.Highest(begin_ns, end_ns);
//
// Immutable once made.
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
  bool bytes = false;   // else plain numbers
  bool little = false;  // it says next to nothing
  uint64_t highest = 0;
  uint64_t changes = 0;
  // `allocated` is the value; the others are empty.
  std::shared_ptr<const query::CurveIndex> index;
  std::shared_ptr<const analysis::MemoryCurves> curve;

  uint64_t At(int64_t time_ns) const;
};

std::vector<Series> SeriesOf(const trace::Trace& trace);

// Of the devices of a trace, one after another: what each had allocated and reserved.
struct DeviceMemory {
  uint8_t device = 0;
  std::string name;
  uint64_t peak = 0, reserved = 0;  // highest
  int64_t peak_ns = 0;
  std::shared_ptr<const query::CurveIndex> index;
  std::shared_ptr<const analysis::MemoryCurves> curve;  // without categories
};
// Empty: it has one device.
std::vector<DeviceMemory> MemoryOfDevices(const std::shared_ptr<const trace::Trace>& whole);

}  // namespace vramscope::ui::timeline
