#include "profiler/trace/memory_cursor.h"

#include <algorithm>

namespace vramscope::trace {
namespace {

// Begun before event `at`, and not ended before it.
bool Alive(EventIndex begin, EventIndex end, EventIndex at) {
  return begin < at && end >= at;  // kNoEvent is the greatest
}

}  // namespace

MemoryCursor::MemoryCursor(const Trace& trace)
    : trace_(&trace), category_(trace.allocations.birth_category) {
  int first = 255, last = 0;
  for (const std::vector<uint8_t>* devices : {&trace.allocations.device, &trace.segments.device})
    for (const uint8_t d : *devices) {
      first = std::min<int>(first, d);
      last = std::max<int>(last, d);
    }
  several_ = first < last;
  only_ = static_cast<uint8_t>(last);
  memory_.resize(static_cast<size_t>(last) + 1);
}

MemoryCursor MemoryCursor::Behind(const Trace& trace, EventIndex event) {
  MemoryCursor cursor(trace);
  if (trace.events.size() > 0) cursor.JumpTo(std::min(event, trace.events.size() - 1) + 1);
  return cursor;
}

// What is alive at `end` came before it and has not gone. Pages alone have a history that no table
// tells: their events are walked.
void MemoryCursor::JumpTo(EventIndex end) {
  const AllocationTable& a = trace_->allocations;
  const RetagTable& r = trace_->retags;
  const SegmentTable& s = trace_->segments;
  for (uint32_t row = 0; row < r.size() && r.event[row] < end; ++row)
    category_[r.allocation[row].value] = r.to[row];
  for (uint32_t id = 0; id < a.size() && a.alloc_event[id] < end; ++id) {
    if (a.free_event[id] < end) continue;
    ChangeBlocks(several_ ? a.device[id] : only_, [&](auto& memory) {
      memory.Alloc(a.bytes[id], a.bytes_rounded[id], category_[id]);
    });
  }
  std::vector<EventIndex> pages;  // that the events of expandable segments change
  for (uint32_t id = 0; id < s.size() && s.alloc_event[id] < end; ++id) {
    if (s.expandable[id] != 0) {
      if (s.free_event[id] < end) pages.push_back(s.free_event[id]);
    } else if (s.free_event[id] >= end) {
      all_.reserved += memory_[s.device[id]].SegmentAlloc(s.bytes[id], false);
    }
  }
  for (const EventIndex i : trace_->activities.event) {
    if (i >= end) break;
    if (SubjectOf(trace_->events.kind[i]) == Subject::kSegment) pages.push_back(i);
  }
  std::sort(pages.begin(), pages.end());
  for (const EventIndex i : pages) ApplyToSegment(i);
  event_ = end;
}

void MemoryCursor::ApplyToSegment(EventIndex i) {
  const EventTable& e = trace_->events;
  const SegmentTable& s = trace_->segments;
  const uint64_t id = e.id[i];
  DeviceMemory& memory = memory_[s.device[id]];
  if (e.kind[i] == EventKind::kSegmentAlloc) {
    all_.reserved += memory.SegmentAlloc(s.bytes[id], s.expandable[id] != 0);
    return;
  }
  if (e.kind[i] == EventKind::kSegmentFree) {
    all_.reserved -= memory.SegmentFree(s.address[id], s.bytes[id], s.expandable[id] != 0);
    return;
  }
  const std::vector<EventIndex>& rows = trace_->activities.event;
  while (rows[activity_] < i) ++activity_;
  const uint64_t address = trace_->activities.address[activity_];
  if (e.kind[i] == EventKind::kSegmentMap) {
    all_.reserved += memory.Map(address, e.bytes[i]);
  } else {
    all_.reserved -= memory.Unmap(address, e.bytes[i]);
  }
}

const DeviceMemory& MemoryCursor::memory(uint8_t device) const {
  static const DeviceMemory kNothing;
  return device < memory_.size() ? memory_[device] : kNothing;
}

void MemoryCursor::AdvanceTo(EventIndex end) {
  end = std::min(end, trace_->events.size());
  while (event_ < end) Apply();
}

bool MemoryCursor::IsLive(AllocationId id) const {
  const AllocationTable& a = trace_->allocations;
  return Alive(a.alloc_event[id.value], a.free_event[id.value], event_);
}

std::vector<AllocationId> MemoryCursor::Live() const {
  std::vector<AllocationId> live;
  const std::vector<EventIndex>& born = trace_->allocations.alloc_event;
  for (uint32_t id = 0; id < born.size() && born[id] < event_; ++id)
    if (IsLive({id})) live.push_back({id});
  return live;
}

std::vector<SegmentId> MemoryCursor::Segments() const {
  const SegmentTable& s = trace_->segments;
  std::vector<SegmentId> segments;
  for (uint32_t id = 0; id < s.size() && s.alloc_event[id] < event_; ++id)
    if (Alive(s.alloc_event[id], s.free_event[id], event_)) segments.push_back({id});
  return segments;
}

}  // namespace vramscope::trace
