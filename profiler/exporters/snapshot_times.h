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
  int64_t Recorded(trace::EventIndex event) const;
  int64_t Microsecond(trace::EventIndex event) const;

  const trace::Trace& trace_;
  // No snapshot has a time before 0 (where the first entries of a file had none, they lie before
  // the first that has one): then all of them are later by that.
  int64_t before_0_ = 0;
  std::vector<int64_t> shown_;  // of every event; empty: as recorded
};

}  // namespace vramscope::exporters
