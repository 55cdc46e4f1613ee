#include "profiler/trace/event_source.h"

#include <algorithm>

namespace vramscope::trace {

EventSource::EventSource(const Trace& trace) : trace_(trace) {
  const SliceTable& s = trace_.slices;
  for (uint32_t row = 0; row < s.size(); ++row)
    if (s.end_event[row] != kNoEvent) ends_.emplace_back(s.end_event[row], row);
  std::sort(ends_.begin(), ends_.end());
}

Event EventSource::At(EventIndex i) {
  const EventTable& t = trace_.events;
  Event e;
  e.kind = t.kind[i];
  e.time_ns = t.time_ns[i];
  e.id = t.id[i];
  e.category = t.category[i];
  e.detail = t.detail[i];
  e.bytes = t.bytes[i];
  e.bytes_rounded = t.bytes_rounded[i];
  e.name = t.name[i];
  e.stack = t.StackOf(i);
  e.user_metadata = t.UserMetadataOf(i);
  e.compile_context = t.CompileContextOf(i);
  const SliceTable& s = trace_.slices;
  if (e.kind == EventKind::kAlloc) {
    const AllocationTable& a = trace_.allocations;
    e.address = a.address[e.id];
    e.stream = a.stream[e.id];
    e.device = a.device[e.id];
    e.pool = a.pool[e.id];
    e.module = a.module[e.id];
  } else if (e.kind == EventKind::kSegmentAlloc) {
    const SegmentTable& g = trace_.segments;
    e.address = g.address[e.id];
    e.stream = g.stream[e.id];
    e.device = g.device[e.id];
    e.pool = g.pool[e.id];
    e.mempool = g.mempool[e.id];
  } else if (slice_ < s.size() && s.begin_event[slice_] == i) {
    e.thread = s.thread[slice_];
    e.module = s.module[slice_++];
  } else if (end_ < ends_.size() && ends_[end_].first == i) {
    e.thread = s.thread[ends_[end_++].second];
  } else if (const OtherEventTable& a = trace_.other_events;
             activity_ < a.size() && a.event[activity_] == i) {
    e.address = a.address[activity_];
    e.stream = a.stream[activity_];
    e.thread = a.thread[activity_];
    e.device = a.device[activity_];
    e.pool = a.pool[activity_];
    e.module = a.module[activity_++];
  }
  return e;
}

}  // namespace vramscope::trace
