#include "profiler/replay/recorded_state.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vramscope::replay {
namespace {

using allocator::CachingAllocator;
using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

bool Alive(EventIndex begin, EventIndex end_event, EventIndex at) {
  return begin < at && (end_event == kNoEvent || end_event >= at);
}

// Disjoint, by begin; ranges that touch are joined.
using Ranges = std::map<uint64_t, uint64_t>;

void Add(Ranges& ranges, uint64_t begin, uint64_t end) {
  auto it = ranges.upper_bound(begin);
  if (it != ranges.begin() && std::prev(it)->second >= begin) {
    --it;
    begin = it->first;
    end = std::max(end, it->second);
    it = ranges.erase(it);
  }
  while (it != ranges.end() && it->first <= end) {
    end = std::max(end, it->second);
    it = ranges.erase(it);
  }
  ranges[begin] = end;
}

void Remove(Ranges& ranges, uint64_t begin, uint64_t end) {
  auto it = ranges.lower_bound(begin);
  if (it != ranges.begin() && std::prev(it)->second > begin) --it;
  while (it != ranges.end() && it->first < end) {
    const auto [from, to] = *it;
    it = ranges.erase(it);
    if (from < begin) ranges[from] = begin;
    if (to > end) {
      ranges[end] = to;
      break;
    }
  }
}

// Mapped addresses of all expandable segments.
Ranges MappedBefore(const trace::Trace& t, EventIndex end, uint8_t device) {
  Ranges mapped;
  for (uint32_t row = 0; row < t.activities.size() && t.activities.event[row] < end; ++row) {
    const EventIndex event = t.activities.event[row];
    if (t.activities.device[row] != device) continue;
    const uint64_t begin = t.activities.address[row];
    const uint64_t to = begin + t.events.bytes[event];
    if (t.events.kind[event] == EventKind::kSegmentMap) Add(mapped, begin, to);
    if (t.events.kind[event] == EventKind::kSegmentUnmap) Remove(mapped, begin, to);
  }
  return mapped;
}

}  // namespace

RecordedState StateBefore(const trace::Trace& t, EventIndex end, uint8_t device) {
  RecordedState out;
  const trace::SegmentTable& s = t.segments;
  const trace::AllocationTable& a = t.allocations;
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.device[row] == device && Alive(a.alloc_event[row], a.free_event[row], end)) {
      rows.push_back(row);
    }
  }
  std::sort(rows.begin(), rows.end(),
            [&a](uint32_t x, uint32_t y) { return a.address[x] < a.address[y]; });
  std::vector<uint32_t> segments;
  bool expandable = false;
  for (uint32_t row = 0; row < s.size(); ++row) {
    if (s.device[row] != device || !Alive(s.alloc_event[row], s.free_event[row], end)) continue;
    segments.push_back(row);
    expandable |= s.expandable[row] != 0;
  }
  std::sort(segments.begin(), segments.end(),
            [&s](uint32_t x, uint32_t y) { return s.address[x] < s.address[y]; });
  const Ranges mapped = expandable ? MappedBefore(t, end, device) : Ranges();

  size_t next = 0;
  for (const uint32_t row : segments) {
    CachingAllocator::SegmentState state;
    state.segment = {.address = s.address[row],
                     .bytes = s.bytes[row],
                     .pool = s.pool[row],
                     .stream = s.stream[row],
                     .mempool = s.mempool[row],
                     .expandable = s.expandable[row] != 0};
    const auto put = [&state](uint64_t from, uint64_t to, bool is_mapped) {
      if (from >= to) return;
      state.blocks.push_back({.block = {.address = from,
                                        .bytes_rounded = to - from,
                                        .pool = state.segment.pool,
                                        .stream = state.segment.stream},
                              .mapped = is_mapped});
    };
    // What is not in use: free, and of an expandable segment free or without memory.
    const auto fill = [&](uint64_t from, uint64_t to) {
      if (!state.segment.expandable) return put(from, to, true);
      auto it = mapped.upper_bound(from);
      if (it != mapped.begin() && std::prev(it)->second > from) --it;
      for (; it != mapped.end() && it->first < to; ++it) {
        put(from, std::max(from, it->first), false);
        from = std::max(from, it->first);
        put(from, std::min(to, it->second), true);
        from = std::min(to, it->second);
      }
      put(from, to, false);
    };
    uint64_t at = state.segment.address;
    const uint64_t segment_end = at + state.segment.bytes;
    for (; next < rows.size() && a.address[rows[next]] < segment_end; ++next) {
      const uint32_t b = rows[next];
      if (a.address[b] < at || a.bytes_rounded[b] > segment_end - a.address[b] ||
          a.bytes_rounded[b] == 0) {
        ++out.blocks_left_out;
        continue;
      }
      fill(at, a.address[b]);
      const EventIndex requested = a.free_requested_event[b];
      state.blocks.push_back({.block = {.address = a.address[b],
                                        .bytes_requested = a.bytes[b],
                                        .bytes_rounded = a.bytes_rounded[b],
                                        .pool = state.segment.pool,
                                        .stream = state.segment.stream},
                              .live = true,
                              .pending = requested != kNoEvent && requested < end});
      at = a.address[b] + a.bytes_rounded[b];
    }
    fill(at, segment_end);
    out.segments.push_back(std::move(state));
  }
  out.blocks_left_out += rows.size() - next;
  return out;
}

}  // namespace vramscope::replay
