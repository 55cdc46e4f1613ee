#include <algorithm>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;
using trace::SliceKind;

trace::EventIndex EventAtTime(const trace::Trace& trace, int64_t time_ns) {
  const auto& times = trace.events.time_ns;
  const auto it = std::upper_bound(times.begin(), times.end(), time_ns);
  return it == times.begin() ? 0 : static_cast<EventIndex>(it - times.begin() - 1);
}

Context ContextAt(const trace::Trace& trace, EventIndex event) {
  Context c;
  if (trace.events.size() == 0) return c;
  event = std::min(event, trace.events.size() - 1);
  c.event = event;
  c.time_ns = trace.events.time_ns[event];

  // Slices are in the order of their begin, so the last open slice of a kind is the innermost.
  const trace::SliceTable& s = trace.slices;
  const auto end = std::upper_bound(s.begin_event.begin(), s.begin_event.end(), event);
  const auto rows = static_cast<uint32_t>(end - s.begin_event.begin());
  for (uint32_t i = 0; i < rows; ++i) {
    // kNoEvent, the end of a slice that stays open, is the largest index.
    if (s.end_event[i] <= event) continue;
    switch (s.kind[i]) {
      case SliceKind::kStep:
        c.step = static_cast<int32_t>(s.number[i]);
        break;
      case SliceKind::kMicroBatch:
        c.micro_batch = static_cast<int32_t>(s.number[i]);
        break;
      case SliceKind::kPhase:
        c.phase = s.phase(i);
        break;
      case SliceKind::kModule:
        c.module = trace.String(s.name[i]);
        break;
      case SliceKind::kOp:
        c.op = trace.String(s.name[i]);
        break;
      case SliceKind::kAnnotation:
        break;
    }
  }
  if (trace.events.kind[event] == EventKind::kAlloc) {
    const trace::AllocationTable& a = trace.allocations;
    const auto id = static_cast<uint32_t>(trace.events.id[event]);
    c.step = a.step[id];
    c.micro_batch = a.micro_batch[id];
    c.phase = a.phase[id];
    c.module = trace.String(a.module[id]);
    c.op = trace.String(a.op[id]);
  }
  return c;
}

LiveSet LiveAt(const trace::Trace& trace, EventIndex event) {
  LiveSet live;
  if (trace.events.size() == 0) return live;
  event = std::min(event, trace.events.size() - 1);
  live.context = ContextAt(trace, event);

  const trace::AllocationTable& a = trace.allocations;
  const trace::MemoryCursor at = trace::MemoryCursor::Behind(trace, event);
  const trace::MemorySums& sums = at.sums();
  live.allocated = sums.allocated;
  live.requested = sums.requested;
  live.reserved = sums.reserved;
  live.by_category = sums.by_category;
  for (const trace::AllocationId id : at.Live())
    live.allocations.push_back({.id = id, .category = at.CategoryOf(id)});
  std::sort(live.allocations.begin(), live.allocations.end(),
            [&a](const LiveAllocation& x, const LiveAllocation& y) {
              const uint64_t bx = a.bytes_rounded[x.id.value], by = a.bytes_rounded[y.id.value];
              return bx != by ? bx > by : x.id < y.id;
            });
  return live;
}

Peak FindPeak(const trace::Trace& trace, const MemoryCurves& curves) {
  Peak peak;
  if (curves.size() == 0) return peak;
  // Events before the beginning of a recording are for blocks that already existed. The peak is the
  // highest point after these events.
  const EventIndex begin = trace.recording_begin == kNoEvent ? 0 : trace.recording_begin;
  const auto first = static_cast<ptrdiff_t>(PointAt(curves, begin).value_or(0));
  const auto at = static_cast<size_t>(
      std::max_element(curves.allocated.begin() + first, curves.allocated.end()) -
      curves.allocated.begin());
  peak.allocated = curves.allocated[at];
  peak.reserved = *std::max_element(curves.reserved.begin() + first, curves.reserved.end());
  peak.reserved_then = curves.reserved[at];
  peak.context = ContextAt(trace, std::max(curves.event[at], begin));
  for (int c = 0; c < trace::kCategoryCount; ++c) {
    if (!curves.category[c].empty()) peak.by_category[c] = curves.category[c][at];
  }
  return peak;
}

uint64_t MostByCounter(const trace::Trace& trace) {
  const trace::AllocationTable& a = trace.allocations;
  const EventIndex begin = trace.recording_begin == kNoEvent ? 0 : trace.recording_begin;
  uint64_t now = 0, most = 0;
  for (EventIndex i = 0; i < trace.events.size(); ++i) {
    const trace::EventKind kind = trace.events.kind[i];
    const auto id = static_cast<uint32_t>(trace.events.id[i]);
    if (kind == trace::EventKind::kAlloc)
      now += a.bytes_rounded[id];
    else if ((kind == trace::EventKind::kFreeRequested ||
              kind == trace::EventKind::kFreeCompleted) &&
             a.free_requested_event[id] == i)
      now -= a.bytes_rounded[id];
    if (i >= begin) most = std::max(most, now);
  }
  return most;
}

}  // namespace vramscope::analysis
