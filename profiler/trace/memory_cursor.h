// What is in the memory of one device at an event: the only place where allocated, reserved and
// mapped bytes are reckoned. The writer of a `.trace`, curves, live sets, what-ifs, explanations
// and every exporter ask here.
//
//   for (MemoryCursor at(trace); at.event() < trace.events.size();)
//     if (at.Apply()) use(at.event() - 1, at.sums().allocated);
//   MemoryCursor there = MemoryCursor::Behind(trace, event);   // "at the moment of an event"
//
// Allocated is the sum of the blocks that are handed out (bytes_rounded), until their free has
// completed: torch.cuda.memory_allocated(). Reserved is what the allocator holds of the device:
// plain segments whole, of an expandable segment (whose own bytes are addresses) the pages that are
// mapped: torch.cuda.memory_reserved(). Values, copied as such; not thread-safe while they change.
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
  uint64_t allocated = 0;       // in blocks that are handed out, rounded
  uint64_t requested = 0;       // what was asked for of them
  uint64_t reserved = 0;        // in segments, of expandable ones in mapped pages
  CategoryBytes by_category{};  // of allocated

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

// One device. Its callers see to it that what is freed was allocated. What changes the segments
// returns by how much reserved went up or, for the last two, down.
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
  // The whole segment: with an expandable one goes what is mapped of it.
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

// Walks the events of a trace: of one device (one_device.h), or of several side by side, for those
// who show them side by side; then sums() adds up what fits on no card.
class MemoryCursor {
 public:
  // The trace must outlive the cursor.
  explicit MemoryCursor(const Trace& trace);
  // Right behind an event (the last, of a later one; at the begin of an empty trace). Reckoned from
  // the tables, without a walk: some nanoseconds an allocation.
  static MemoryCursor Behind(const Trace& trace, EventIndex event);

  // Applies the event at event(), which then moves on by one. Whether memory changed (an Alloc,
  // FreeCompleted, Retag or segment event).
  bool Apply();
  // Applies all events before `end`, the trace's size at most.
  void AdvanceTo(EventIndex end);

  EventIndex event() const { return event_; }  // next to be applied
  const MemorySums& sums() const { return several_ ? all_ : memory_[only_].sums(); }
  // Pages of expandable segments; of a trace of one device.
  const RangeSet& mapped() const { return memory_[only_].mapped(); }
  // Of one device of several; of one that is not there: nothing.
  const DeviceMemory& memory(uint8_t device) const;

  // Blocks at this moment: handed out, their free not completed. In order of their id.
  std::vector<AllocationId> Live() const;
  bool IsLive(AllocationId id) const;
  // At this moment; as it will be made, of one that is not there yet.
  Category CategoryOf(AllocationId id) const {
    return id.value < category_.size() ? category_[id.value]
                                       : trace_->allocations.birth_category[id.value];
  }
  // Segments at this moment, in order of their id.
  std::vector<SegmentId> Segments() const;

 private:
  void ApplyToSegment(EventIndex event);
  // Runs `change` on the sums that the device's blocks are in.
  template <class Change>
  void ChangeBlocks(uint8_t device, Change change) {
    change(memory_[device]);
    if (several_) change(all_);
  }
  void JumpTo(EventIndex end);

  const Trace* trace_;
  EventIndex event_ = 0;
  size_t activity_ = 0;               // next row of the activity table
  std::vector<DeviceMemory> memory_;  // by device
  uint8_t only_ = 0;                  // of several: the highest
  bool several_ = false;
  MemorySums all_;                  // of several, kept
  std::vector<Category> category_;  // by allocation, of those made so far
  // What JumpTo() came by.
  EventIndex jumped_to_ = kNoEvent;
  std::vector<AllocationId> live_then_;
};

// Here, so that it becomes part of its callers' loops over a million events.
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
