// The microseconds that a snapshot shows events at: a trace has nanoseconds, a snapshot not.
// Internal to snapshot.cpp.
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
  int64_t Microsecond(trace::EventIndex event) const;

  const trace::Trace& trace_;
  std::vector<int64_t> shown_;  // of every event; empty: as recorded
};

}  // namespace vramscope::exporters
