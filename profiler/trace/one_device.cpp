#include "profiler/trace/one_device.h"

#include <algorithm>
#include <vector>

namespace vramscope::trace {
namespace {

using Rows = std::vector<uint32_t>;  // that stay, ascending

template <class T>
void Keep(const Rows& rows, const std::vector<T>& from, std::vector<T>* to) {
  if (from.empty()) return;  // a column that the trace does not have
  to->reserve(rows.size());
  for (uint32_t row : rows) to->push_back(from[row]);
}

// Rows of a table that are of the device, and what each row's new number is.
struct Kept {
  Rows rows;
  Rows number;  // by old row; SegmentId::kNoneValue: it goes

  Kept(const std::vector<uint8_t>& devices, uint8_t device)
      : number(devices.size(), SegmentId::kNoneValue) {
    for (uint32_t row = 0; row < devices.size(); ++row) {
      if (devices[row] != device) continue;
      number[row] = static_cast<uint32_t>(rows.size());
      rows.push_back(row);
    }
  }
};

// Bound to a device by their row in the activity table; the others there (markers) are of all.
bool HasDevice(EventKind kind) {
  switch (kind) {
    case EventKind::kSegmentMap:
    case EventKind::kSegmentUnmap:
    case EventKind::kOutOfMemory:
    case EventKind::kKernel:
    case EventKind::kMemcpy:
    case EventKind::kMemset:
    case EventKind::kDriverAlloc:
    case EventKind::kDriverFree:
    case EventKind::kDeviceUsage:
      return true;
    default:
      return false;
  }
}

class Slicer {
 public:
  Slicer(const Trace& trace, uint8_t device)
      : t_(trace),
        device_(device),
        allocations_(trace.allocations.device, device),
        segments_(trace.segments.device, device) {}

  std::shared_ptr<const Trace> Make() {
    out_->info = t_.info;
    out_->strings = t_.strings;
    out_->stacks = t_.stacks;
    out_->complete = t_.complete;
    out_->end_message = t_.end_message;
    out_->warnings = t_.warnings;
    ChooseEvents();
    Events();
    Allocations();
    Retags();
    Segments();
    Slices();
    Activities();
    for (const Marker& m : t_.markers)
      out_->markers.push_back({number_[m.event], m.time_ns, m.name});
    if (t_.recording_begin != kNoEvent) out_->recording_begin = number_[t_.recording_begin];
    return out_;
  }

 private:
  bool Mine(EventIndex i) const {
    const auto of_block = [&] { return t_.allocations.device[t_.events.id[i]] == device_; };
    switch (t_.events.kind[i]) {
      case EventKind::kAlloc:
      case EventKind::kFreeRequested:
      case EventKind::kFreeCompleted:
      case EventKind::kRetag:
        return of_block();
      case EventKind::kSegmentAlloc:
      case EventKind::kSegmentFree:
        return t_.segments.device[t_.events.id[i]] == device_;
      default:
        return true;  // of the activities: ChooseEvents
    }
  }

  void ChooseEvents() {
    number_.assign(t_.events.size(), kNoEvent);
    const ActivityTable& a = t_.activities;
    uint32_t activity = 0;
    for (EventIndex i = 0; i < t_.events.size(); ++i) {
      bool mine = Mine(i);
      if (activity < a.size() && a.event[activity] == i) {
        mine = !HasDevice(t_.events.kind[i]) || a.device[activity] == device_;
        if (mine) activities_.push_back(activity);
        ++activity;
      }
      if (!mine) continue;
      number_[i] = static_cast<EventIndex>(events_.size());
      events_.push_back(i);
    }
  }

  // Where events are told by their number.
  void Renumber(std::vector<EventIndex>* column) const {
    for (EventIndex& event : *column)
      if (event != kNoEvent) event = number_[event];
  }

  void Events() {
    const EventTable& from = t_.events;
    EventTable& to = out_->events;
    Keep(events_, from.kind, &to.kind);
    Keep(events_, from.time_ns, &to.time_ns);
    Keep(events_, from.id, &to.id);
    Keep(events_, from.category, &to.category);
    Keep(events_, from.detail, &to.detail);
    Keep(events_, from.bytes, &to.bytes);
    Keep(events_, from.bytes_rounded, &to.bytes_rounded);
    Keep(events_, from.name, &to.name);
    Keep(events_, from.stack, &to.stack);
    Keep(events_, from.user_metadata, &to.user_metadata);
    Keep(events_, from.compile_context, &to.compile_context);
    for (EventIndex i = 0; i < to.size(); ++i) {
      switch (to.kind[i]) {
        case EventKind::kAlloc:
        case EventKind::kFreeRequested:
        case EventKind::kFreeCompleted:
        case EventKind::kRetag:
          to.id[i] = allocations_.number[to.id[i]];
          break;
        case EventKind::kSegmentAlloc:
        case EventKind::kSegmentFree:
        case EventKind::kSegmentMap:
        case EventKind::kSegmentUnmap:
          if (to.id[i] < segments_.number.size()) to.id[i] = segments_.number[to.id[i]];
          break;
        default:
          break;
      }
    }
  }

  void Allocations() {
    const AllocationTable& from = t_.allocations;
    AllocationTable& to = out_->allocations;
    const Rows& rows = allocations_.rows;
    Keep(rows, from.alloc_event, &to.alloc_event);
    Keep(rows, from.free_requested_event, &to.free_requested_event);
    Keep(rows, from.free_event, &to.free_event);
    Keep(rows, from.begin_ns, &to.begin_ns);
    Keep(rows, from.end_ns, &to.end_ns);
    Keep(rows, from.bytes, &to.bytes);
    Keep(rows, from.bytes_rounded, &to.bytes_rounded);
    Keep(rows, from.address, &to.address);
    Keep(rows, from.stream, &to.stream);
    Keep(rows, from.device, &to.device);
    Keep(rows, from.pool, &to.pool);
    Keep(rows, from.birth_category, &to.birth_category);
    Keep(rows, from.category, &to.category);
    Keep(rows, from.main_category, &to.main_category);
    Keep(rows, from.op, &to.op);
    Keep(rows, from.module, &to.module);
    Keep(rows, from.phase, &to.phase);
    Keep(rows, from.step, &to.step);
    Keep(rows, from.micro_batch, &to.micro_batch);
    Keep(rows, from.segment, &to.segment);
    Renumber(&to.alloc_event);
    Renumber(&to.free_requested_event);
    Renumber(&to.free_event);
    for (uint32_t row = 0; row < to.size(); ++row)
      if (to.free_event[row] == kNoEvent) to.end_ns[row] = out_->end_ns();
    for (SegmentId& segment : to.segment)
      if (segment.valid()) segment.value = segments_.number[segment.value];
  }

  void Retags() {
    const RetagTable& from = t_.retags;
    RetagTable& to = out_->retags;
    Rows rows;
    for (uint32_t row = 0; row < from.size(); ++row)
      if (number_[from.event[row]] != kNoEvent) rows.push_back(row);
    Keep(rows, from.event, &to.event);
    Keep(rows, from.allocation, &to.allocation);
    Keep(rows, from.from, &to.from);
    Keep(rows, from.to, &to.to);
    Renumber(&to.event);
    for (AllocationId& id : to.allocation) id.value = allocations_.number[id.value];
  }

  void Segments() {
    const SegmentTable& from = t_.segments;
    SegmentTable& to = out_->segments;
    const Rows& rows = segments_.rows;
    Keep(rows, from.alloc_event, &to.alloc_event);
    Keep(rows, from.free_event, &to.free_event);
    Keep(rows, from.bytes, &to.bytes);
    Keep(rows, from.address, &to.address);
    Keep(rows, from.stream, &to.stream);
    Keep(rows, from.device, &to.device);
    Keep(rows, from.pool, &to.pool);
    Keep(rows, from.expandable, &to.expandable);
    Keep(rows, from.mempool, &to.mempool);
    Renumber(&to.alloc_event);
    Renumber(&to.free_event);
  }

  void Slices() {
    SliceTable& to = out_->slices;
    to = t_.slices;
    Renumber(&to.begin_event);
    Renumber(&to.end_event);
    for (uint32_t row = 0; row < to.size(); ++row)
      if (to.end_event[row] == kNoEvent)
        to.end_ns[row] = std::max(out_->end_ns(), to.begin_ns[row]);
  }

  void Activities() {
    const ActivityTable& from = t_.activities;
    ActivityTable& to = out_->activities;
    Keep(activities_, from.event, &to.event);
    Keep(activities_, from.address, &to.address);
    Keep(activities_, from.duration_ns, &to.duration_ns);
    Keep(activities_, from.stream, &to.stream);
    Keep(activities_, from.thread, &to.thread);
    Keep(activities_, from.device, &to.device);
    Keep(activities_, from.pool, &to.pool);
    Keep(activities_, from.module, &to.module);
    Renumber(&to.event);
  }

  const Trace& t_;
  const uint8_t device_;
  const Kept allocations_, segments_;
  Rows events_, activities_;        // that stay
  std::vector<EventIndex> number_;  // of an event, after; kNoEvent: it goes
  std::shared_ptr<Trace> out_ = std::make_shared<Trace>();
};

}  // namespace

std::shared_ptr<const Trace> OfDevice(const Trace& trace, uint8_t device) {
  return Slicer(trace, device).Make();
}

}  // namespace vramscope::trace
