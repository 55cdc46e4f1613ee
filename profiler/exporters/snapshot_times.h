// The times of events in a snapshot. A trace has nanoseconds, a snapshot only microseconds.
// Internal to memory_snapshot.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

// Whether the event becomes an entry of a snapshot's device_traces.
bool IsSnapshotEntry(trace::EventKind kind);

class SnapshotTimes {
 public:
  explicit SnapshotTimes(const trace::Trace& trace);
  int64_t Of(trace::EventIndex event) const {
    return shown_.empty() ? Microsecond(event) : shown_[event];
  }

 private:
  int64_t Recorded(trace::EventIndex event) const;
  int64_t Microsecond(trace::EventIndex event) const;

  const trace::Trace& trace_;
  // Added to all times, because times in a snapshot cannot be negative. (Times in a trace can be
  // negative: an importer places entries without a time before the first one with a time.)
  int64_t before_0_ = 0;
  std::vector<int64_t> shown_;  // indexed by event; empty: the recorded times are used
};

}  // namespace vramscope::exporters
