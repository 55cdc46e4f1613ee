// Which events are the caching allocator's own: those that a memory snapshot has as entries.
//
//   if (IsAllocatorEvent(trace.events.kind[i])) ++entries;
//
// Any thread.
#pragma once

#include "profiler/trace/types.h"

namespace vramscope::trace {

inline bool IsAllocatorEvent(EventKind kind) {
  switch (kind) {
    case EventKind::kAlloc:
    case EventKind::kFreeRequested:
    case EventKind::kFreeCompleted:
    case EventKind::kSegmentAlloc:
    case EventKind::kSegmentFree:
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap:
    case EventKind::kOutOfMemory:
      return true;
    default:
      return false;
  }
}

}  // namespace vramscope::trace
