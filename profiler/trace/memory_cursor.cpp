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
    : trace_(trace), device_(device), category_(trace.allocations.birth_category) {
  int last = device.value_or(0);
  for (const uint8_t d : trace.allocations.device) last = std::max<int>(last, d);
  for (const uint8_t d : trace.segments.device) last = std::max<int>(last, d);
  memory_.resize(static_cast<size_t>(last) + 1);
}

bool MemoryCursor::Apply() {
  const EventTable& e = trace_.events;
  const AllocationTable& a = trace_.allocations;
  const SegmentTable& s = trace_.segments;
  const EventIndex i = event_++;
  const uint64_t id = e.id[i];
  switch (e.kind[i]) {
    case EventKind::kAlloc:
      if (!Mine(a.device[id])) return false;
      memory_[a.device[id]].Alloc(a.bytes[id], a.bytes_rounded[id], category_[id]);
      return true;
    case EventKind::kFreeCompleted:
      if (!Mine(a.device[id])) return false;
      memory_[a.device[id]].Free(a.bytes[id], a.bytes_rounded[id], category_[id]);
      return true;
    case EventKind::kRetag:
      if (!Mine(a.device[id])) return false;
      memory_[a.device[id]].Retag(a.bytes_rounded[id], category_[id], e.category[i]);
      category_[id] = e.category[i];
      return true;
    case EventKind::kSegmentAlloc:
      if (!Mine(s.device[id])) return false;
      memory_[s.device[id]].SegmentAlloc(s.bytes[id], s.expandable[id] != 0);
      return true;
    case EventKind::kSegmentFree:
      if (!Mine(s.device[id])) return false;
      memory_[s.device[id]].SegmentFree(s.address[id], s.bytes[id], s.expandable[id] != 0);
      return true;
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap: {
      if (!Mine(s.device[id])) return false;
      const std::vector<EventIndex>& rows = trace_.activities.event;
      while (rows[activity_] < i) ++activity_;
      const uint64_t address = trace_.activities.address[activity_];
      if (e.kind[i] == EventKind::kSegmentMap) {
        memory_[s.device[id]].Map(address, e.bytes[i]);
      } else {
        memory_[s.device[id]].Unmap(address, e.bytes[i]);
      }
      return true;
    }
    default:
      return false;
  }
}

MemorySums MemoryCursor::sums() const {
  if (device_) return memory_[*device_].sums();
  MemorySums all = memory_.front().sums();
  for (size_t d = 1; d < memory_.size(); ++d) {
    const MemorySums& one = memory_[d].sums();
    all.allocated += one.allocated;
    all.requested += one.requested;
    all.reserved += one.reserved;
    for (size_t c = 0; c < kCategoryCount; ++c) all.by_category[c] += one.by_category[c];
  }
  return all;
}

const DeviceMemory& MemoryCursor::memory(uint8_t device) const {
  static const DeviceMemory kNothing;
  return device < memory_.size() ? memory_[device] : kNothing;
}

void MemoryCursor::AdvanceTo(EventIndex end) {
  end = std::min(end, trace_.events.size());
  while (event_ < end) Apply();
}

bool MemoryCursor::IsLive(AllocationId id) const {
  const AllocationTable& a = trace_.allocations;
  return Mine(a.device[id.value]) && Alive(a.alloc_event[id.value], a.free_event[id.value], event_);
}

std::vector<AllocationId> MemoryCursor::Live() const {
  std::vector<AllocationId> live;
  const std::vector<EventIndex>& born = trace_.allocations.alloc_event;
  for (uint32_t id = 0; id < born.size() && born[id] < event_; ++id)
    if (IsLive({id})) live.push_back({id});
  return live;
}

std::vector<SegmentId> MemoryCursor::Segments() const {
  const SegmentTable& s = trace_.segments;
  std::vector<SegmentId> segments;
  for (uint32_t id = 0; id < s.size() && s.alloc_event[id] < event_; ++id)
    if (Mine(s.device[id]) && Alive(s.alloc_event[id], s.free_event[id], event_))
      segments.push_back({id});
  return segments;
}

}  // namespace vramscope::trace
