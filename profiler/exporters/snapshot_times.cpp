#include "profiler/exporters/snapshot_times.h"

#include <algorithm>

#include "profiler/trace/allocator_events.h"

namespace vramscope::exporters {
namespace {

using trace::EventIndex;
using trace::EventKind;

bool IsBoundary(EventKind kind) {
  switch (kind) {
    case EventKind::kPhaseBegin:
    case EventKind::kPhaseEnd:
    case EventKind::kStepBegin:
    case EventKind::kStepEnd:
    case EventKind::kMicroBatchBegin:
    case EventKind::kMicroBatchEnd:
    case EventKind::kAnnotationBegin:
    case EventKind::kAnnotationEnd:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool IsSnapshotEntry(EventKind kind) {
  return trace::IsAllocatorEvent(kind) || kind == EventKind::kRetag;
}

// Imported snapshots have whole microseconds already. In vramscope's own runs, times are rounded
// such that no entry moves past the begin or end of a step or phase.
SnapshotTimes::SnapshotTimes(const trace::Trace& trace) : trace_(trace) {
  if (trace.events.size() > 0) before_0_ = std::max<int64_t>(0, -Recorded(0));
  if (trace.info.backend == trace::Backend::kImported) return;
  shown_.resize(trace.events.size());
  int64_t last = INT64_MIN;
  bool after_entry = false;
  for (EventIndex i = 0; i < trace.events.size(); ++i) {
    const EventKind kind = trace.events.kind[i];
    int64_t us = Microsecond(i);
    if (IsBoundary(kind)) {
      if (last != INT64_MIN) us = std::max(us, last + (after_entry ? 1 : 0));
      after_entry = false;
    } else {
      us = std::max(us, last);
      after_entry = after_entry || IsSnapshotEntry(kind);
    }
    shown_[i] = last = us;
  }
}

int64_t SnapshotTimes::Recorded(EventIndex event) const {
  // Uses unsigned arithmetic, so that invalid times wrap around instead of overflowing.
  const auto ns = static_cast<int64_t>(static_cast<uint64_t>(trace_.info.start_unix_ns) +
                                       static_cast<uint64_t>(trace_.events.time_ns[event]));
  return ns / 1000 - (ns % 1000 < 0 ? 1 : 0);
}

int64_t SnapshotTimes::Microsecond(EventIndex event) const {
  return std::max<int64_t>(0, Recorded(event) + before_0_);
}

}  // namespace vramscope::exporters
