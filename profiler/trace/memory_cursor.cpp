#include "profiler/trace/memory_cursor.h"

#include <algorithm>

namespace vramscope::trace {
namespace {

// Whether a range of events has begun before `at`, and has not ended before it.
bool Alive(EventIndex begin, EventIndex end, EventIndex at) {
  return begin < at && end >= at;  // kNoEvent is the largest index
}

}  // namespace

MemoryCursor::MemoryCursor(const Trace& trace) : trace_(&trace) {
  uint8_t first = 255, last = 0;
  const auto include = [&](uint8_t device) {
    first = std::min(first, device);
    last = std::max(last, device);
  };
  // Most recordings have only one device, which is found without a loop over the rows.
  const PackedColumn<uint8_t>& devices = trace.allocations.device;
  if (!devices.empty() && devices.AllAlike())
    include(devices.front());
  else
    std::ranges::for_each(devices, include);
  std::ranges::for_each(trace.segments.device, include);
  several_ = first < last;
  only_ = last;
  memory_.resize(size_t{last} + 1);
  category_.reserve(trace.allocations.size());
}

MemoryCursor MemoryCursor::Behind(const Trace& trace, EventIndex event) {
  MemoryCursor cursor(trace);
  if (trace.events.size() > 0) cursor.JumpTo(std::min(event, trace.events.size() - 1) + 1);
  return cursor;
}

// Reads live allocations from the tables: they begin before `end`, and end at or after it. The
// tables have no history of mapped pages, so events that map or unmap pages are replayed.
void MemoryCursor::JumpTo(EventIndex end) {
  const AllocationTable& a = trace_->allocations;
  const RetagTable& r = trace_->retags;
  const SegmentTable& s = trace_->segments;
  const auto born = std::lower_bound(a.alloc_event.begin(), a.alloc_event.end(), end);
  const auto count = static_cast<uint32_t>(born - a.alloc_event.begin());
  category_.resize(count);
  a.birth_category.Read(0, category_);
  for (uint32_t row = 0; row < r.size() && r.event[row] < end; ++row)
    category_[r.allocation[row].value] = r.to[row];
  for (uint32_t id = 0; id < count; ++id) {
    if (a.free_event[id] < end) continue;
    live_then_.push_back({id});
    ChangeBlocks(several_ ? a.device[id] : only_, [&](auto& memory) {
      memory.Alloc(a.bytes[id], a.bytes_rounded[id], category_[id]);
    });
  }
  std::vector<EventIndex> pages;  // the events that change pages of expandable segments
  for (uint32_t id = 0; id < s.size() && s.alloc_event[id] < end; ++id) {
    if (s.expandable[id] != 0) {
      if (s.free_event[id] < end) pages.push_back(s.free_event[id]);
    } else if (s.free_event[id] >= end) {
      all_.reserved += memory_[s.device[id]].SegmentAlloc(s.bytes[id], false);
    }
  }
  for (const EventIndex i : trace_->other_events.event) {
    if (i >= end) break;
    if (SubjectOf(trace_->events.kind[i]) == Subject::kSegment) pages.push_back(i);
  }
  std::sort(pages.begin(), pages.end());
  for (const EventIndex i : pages) ApplyToSegment(i);
  event_ = jumped_to_ = end;
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
  const std::vector<EventIndex>& rows = trace_->other_events.event;
  while (rows[activity_] < i) ++activity_;
  const uint64_t address = trace_->other_events.address[activity_];
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
  if (jumped_to_ == event_) return live_then_;
  std::vector<AllocationId> live;
  for (uint32_t id = 0; id < category_.size(); ++id)
    if (trace_->allocations.free_event[id] >= event_) live.push_back({id});
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
