#include "profiler/trace/memory_cursor.h"

#include <algorithm>

namespace vramscope::trace {
namespace {

// Begun before event `at`, and not ended before it.
bool Alive(EventIndex begin, EventIndex end, EventIndex at) {
  return begin < at && end >= at;  // kNoEvent is the greatest
}

}  // namespace

MemoryCursor::MemoryCursor(const Trace& trace, std::optional<uint8_t> device)
    : trace_(&trace), device_(device), category_(trace.allocations.birth_category) {
  int first = 255, last = 0;
  for (const std::vector<uint8_t>* devices : {&trace.allocations.device, &trace.segments.device})
    for (const uint8_t d : *devices) {
      first = std::min<int>(first, d);
      last = std::max<int>(last, d);
    }
  summed_ = !device && first < last;
  shown_ = device.value_or(static_cast<uint8_t>(last));
  memory_.resize(static_cast<size_t>(std::max<int>(last, shown_)) + 1);
}

MemoryCursor MemoryCursor::Behind(const Trace& trace, EventIndex event,
                                  std::optional<uint8_t> device) {
  MemoryCursor cursor(trace, device);
  if (trace.events.size() > 0) cursor.AdvanceTo(std::min(event, trace.events.size() - 1) + 1);
  return cursor;
}

bool MemoryCursor::Apply() {
  const EventTable& e = trace_->events;
  const AllocationTable& a = trace_->allocations;
  const SegmentTable& s = trace_->segments;
  const EventIndex i = event_++;
  const uint64_t id = e.id[i];
  switch (e.kind[i]) {
    case EventKind::kAlloc:
      if (!Mine(a.device[id])) return false;
      memory_[a.device[id]].Alloc(a.bytes[id], a.bytes_rounded[id], category_[id]);
      if (summed_) all_.Alloc(a.bytes[id], a.bytes_rounded[id], category_[id]);
      return true;
    case EventKind::kFreeCompleted:
      if (!Mine(a.device[id])) return false;
      memory_[a.device[id]].Free(a.bytes[id], a.bytes_rounded[id], category_[id]);
      if (summed_) all_.Free(a.bytes[id], a.bytes_rounded[id], category_[id]);
      return true;
    case EventKind::kRetag:
      if (!Mine(a.device[id])) return false;
      memory_[a.device[id]].Retag(a.bytes_rounded[id], category_[id], e.category[i]);
      if (summed_) all_.Retag(a.bytes_rounded[id], category_[id], e.category[i]);
      category_[id] = e.category[i];
      return true;
    case EventKind::kSegmentAlloc:
      if (!Mine(s.device[id])) return false;
      all_.reserved += memory_[s.device[id]].SegmentAlloc(s.bytes[id], s.expandable[id] != 0);
      return true;
    case EventKind::kSegmentFree:
      if (!Mine(s.device[id])) return false;
      all_.reserved -=
          memory_[s.device[id]].SegmentFree(s.address[id], s.bytes[id], s.expandable[id] != 0);
      return true;
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap: {
      if (!Mine(s.device[id])) return false;
      const std::vector<EventIndex>& rows = trace_->activities.event;
      while (rows[activity_] < i) ++activity_;
      const uint64_t address = trace_->activities.address[activity_];
      if (e.kind[i] == EventKind::kSegmentMap) {
        all_.reserved += memory_[s.device[id]].Map(address, e.bytes[i]);
      } else {
        all_.reserved -= memory_[s.device[id]].Unmap(address, e.bytes[i]);
      }
      return true;
    }
    default:
      return false;
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
  return Mine(a.device[id.value]) && Alive(a.alloc_event[id.value], a.free_event[id.value], event_);
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
    if (Mine(s.device[id]) && Alive(s.alloc_event[id], s.free_event[id], event_))
      segments.push_back({id});
  return segments;
}

}  // namespace vramscope::trace
