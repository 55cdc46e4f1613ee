// Computes allocated, reserved and mapped bytes at an event. No other code computes them: the
// writer of a `.trace`, curves, live sets, what-ifs, explanations and all exporters use this
// file.
//
//   for (MemoryCursor at(trace); at.event() < trace.events.size();)
//     if (at.Apply()) use(at.event() - 1, at.sums().allocated);
//   MemoryCursor there = MemoryCursor::Behind(trace, event);   // the memory after an event
//
// Allocated is the sum of bytes_rounded of the blocks in use: a block is in use until its free has
// completed ("active_bytes" of torch.cuda.memory_stats()). Reserved is the device memory that the
// allocator has reserved: torch.cuda.memory_reserved(). Of an expandable segment, only mapped pages
// count, because its `bytes` is the size of an address range. Other segments count in full.
// Copyable values; not thread-safe while they change.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/trace/allocator_events.h"
#include "profiler/trace/range_set.h"
#include "profiler/trace/trace.h"
#include "profiler/trace/types.h"

namespace vramscope::trace {

using CategoryBytes = std::array<uint64_t, kCategoryCount>;

struct MemorySums {
  uint64_t allocated = 0;       // rounded bytes of the blocks in use
  uint64_t requested = 0;       // the requested sizes of these blocks
  uint64_t reserved = 0;        // bytes of segments; of expandable segments, mapped pages
  CategoryBytes by_category{};  // the parts of `allocated`

  void Alloc(uint64_t asked, uint64_t rounded, Category category) {
    allocated += rounded;
    requested += asked;
    by_category[static_cast<size_t>(category)] += rounded;
  }
  void Free(uint64_t asked, uint64_t rounded, Category category) {
    allocated -= rounded;
    requested -= asked;
    by_category[static_cast<size_t>(category)] -= rounded;
  }
  void Retag(uint64_t rounded, Category from, Category to) {
    by_category[static_cast<size_t>(from)] -= rounded;
    by_category[static_cast<size_t>(to)] += rounded;
  }
};

// The memory of one device. Callers must free only what was allocated. SegmentAlloc and Map return
// the increase of `reserved`. Unmap and SegmentFree return its decrease.
class DeviceMemory {
 public:
  void Alloc(uint64_t asked, uint64_t rounded, Category category) {
    sums_.Alloc(asked, rounded, category);
  }
  void Free(uint64_t asked, uint64_t rounded, Category category) {
    sums_.Free(asked, rounded, category);
  }
  void Retag(uint64_t rounded, Category from, Category to) { sums_.Retag(rounded, from, to); }
  uint64_t SegmentAlloc(uint64_t bytes, bool expandable) {
    if (expandable) return 0;
    sums_.reserved += bytes;
    return bytes;
  }
  uint64_t Map(uint64_t address, uint64_t bytes) {
    const uint64_t more = mapped_.Add(address, EndOf(address, bytes));
    sums_.reserved += more;
    return more;
  }
  uint64_t Unmap(uint64_t address, uint64_t bytes) {
    const uint64_t less = mapped_.Remove(address, EndOf(address, bytes));
    sums_.reserved -= less;
    return less;
  }
  // Frees the whole segment. If it is expandable, this frees its mapped pages.
  uint64_t SegmentFree(uint64_t address, uint64_t bytes, bool expandable) {
    if (expandable) return Unmap(address, bytes);
    sums_.reserved -= bytes;
    return bytes;
  }

  const MemorySums& sums() const { return sums_; }
  const RangeSet& mapped() const { return mapped_; }  // pages of expandable segments

 private:
  MemorySums sums_;
  RangeSet mapped_;
};

// Walks over the events of a trace of one device (one_device.h) or several. With several, sums() is
// the total of all devices, which is not the memory of any one GPU.
class MemoryCursor {
 public:
  // The trace must outlive the cursor.
  explicit MemoryCursor(const Trace& trace);
  // Returns a cursor directly after `event`. If `event` is out of range, it is after the last
  // event, or at the beginning of an empty trace. Reads the tables, in some nanoseconds per
  // allocation, instead of applying all events.
  static MemoryCursor Behind(const Trace& trace, EventIndex event);

  // Applies the event at event() and moves to the next. Returns whether memory changed (an Alloc,
  // FreeCompleted, Retag or segment event).
  bool Apply();
  // Applies all events before `end`, which is at most the trace's size.
  void AdvanceTo(EventIndex end);

  EventIndex event() const { return event_; }  // the next event to apply
  const MemorySums& sums() const { return several_ ? all_ : memory_[only_].sums(); }
  // The mapped pages of expandable segments. Only for a trace of one device.
  const RangeSet& mapped() const { return memory_[only_].mapped(); }
  // Returns the memory of one of several devices, which is empty for an unknown device.
  const DeviceMemory& memory(uint8_t device) const;

  // Returns the blocks in use at the cursor, by id: those whose free has not completed.
  std::vector<AllocationId> Live() const;
  bool IsLive(AllocationId id) const;
  // Returns the category at the cursor, or the first one if the allocation is made later.
  Category CategoryOf(AllocationId id) const {
    return id.value < category_.size() ? category_[id.value]
                                       : trace_->allocations.birth_category[id.value];
  }
  // Returns the segments at the cursor, in order of their id.
  std::vector<SegmentId> Segments() const;

 private:
  void ApplyToSegment(EventIndex event);
  // Calls `change` on every sum that includes the device's blocks.
  template <class Change>
  void ChangeBlocks(uint8_t device, Change change) {
    change(memory_[device]);
    if (several_) change(all_);
  }
  void JumpTo(EventIndex end);

  const Trace* trace_;
  EventIndex event_ = 0;
  size_t activity_ = 0;               // next row of the table of other events
  std::vector<DeviceMemory> memory_;  // indexed by device
  uint8_t only_ = 0;                  // the device; if there are several, the highest number
  bool several_ = false;
  MemorySums all_;                  // sum over several devices, updated with each event
  std::vector<Category> category_;  // indexed by allocation, up to the cursor
  // The cursor's event after the last JumpTo(), and the blocks in use at that event.
  EventIndex jumped_to_ = kNoEvent;
  std::vector<AllocationId> live_then_;
};

// Inline, because callers use it in loops over millions of events.
inline bool MemoryCursor::Apply() {
  const EventIndex i = event_++;
  const EventTable& e = trace_->events;
  const EventKind kind = e.kind[i];
  const bool alloc = kind == EventKind::kAlloc;
  if (alloc || kind == EventKind::kFreeCompleted) {
    const AllocationTable& a = trace_->allocations;
    const uint64_t id = e.id[i];
    const uint64_t asked = a.bytes[id], rounded = a.bytes_rounded[id];
    if (alloc) category_.push_back(e.category[i]);  // ids count from 0
    const Category category = category_[id];
    ChangeBlocks(several_ ? a.device[id] : only_, [=](auto& memory) {
      alloc ? memory.Alloc(asked, rounded, category) : memory.Free(asked, rounded, category);
    });
    return true;
  }
  if (kind == EventKind::kRetag) {
    const AllocationTable& a = trace_->allocations;
    const uint64_t id = e.id[i];
    const Category from = std::exchange(category_[id], e.category[i]);
    ChangeBlocks(several_ ? a.device[id] : only_,
                 [&](auto& memory) { memory.Retag(a.bytes_rounded[id], from, e.category[i]); });
    return true;
  }
  if (SubjectOf(kind) != Subject::kSegment) return false;
  ApplyToSegment(i);
  return true;
}

}  // namespace vramscope::trace
