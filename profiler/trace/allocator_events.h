// Determines to which table row an event refers, and which events belong to the caching allocator.
// (In a memory snapshot, the events of the caching allocator are history entries.)
//
//   if (IsAllocatorEvent(trace.events.kind[i])) ++entries;
//
// Any thread.
#pragma once

#include "profiler/trace/types.h"

namespace vramscope::trace {

// The table in which an event's id is a row. That row also has the device.
enum class Subject : uint8_t {
  kRun,      // no row; applies to all devices: steps, phases, modules, ops, annotations, markers
  kBlock,    // a row of the allocation table
  kSegment,  // a row of the segment table
  kDevice,   // no row except the event's own in OtherEventTable
};

constexpr Subject SubjectOf(EventKind kind) {
  switch (kind) {
    case EventKind::kAlloc:
    case EventKind::kFreeRequested:
    case EventKind::kFreeCompleted:
    case EventKind::kRetag:
      return Subject::kBlock;
    case EventKind::kSegmentAlloc:
    case EventKind::kSegmentFree:
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap:
      return Subject::kSegment;
    case EventKind::kOutOfMemory:
    case EventKind::kDeviceUsage:
      return Subject::kDevice;
    case EventKind::kPhaseBegin:
    case EventKind::kPhaseEnd:
    case EventKind::kStepBegin:
    case EventKind::kStepEnd:
    case EventKind::kMicroBatchBegin:
    case EventKind::kMicroBatchEnd:
    case EventKind::kModuleBegin:
    case EventKind::kModuleEnd:
    case EventKind::kOpBegin:
    case EventKind::kOpEnd:
    case EventKind::kMarker:
    case EventKind::kAnnotationBegin:
    case EventKind::kAnnotationEnd:
      return Subject::kRun;
  }
  return Subject::kRun;
}

constexpr bool IsAllocatorEvent(EventKind kind) {
  const Subject subject = SubjectOf(kind);
  return (subject == Subject::kBlock && kind != EventKind::kRetag) ||
         subject == Subject::kSegment || kind == EventKind::kOutOfMemory;
}

}  // namespace vramscope::trace
