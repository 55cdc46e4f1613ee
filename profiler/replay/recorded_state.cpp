#include "profiler/replay/recorded_state.h"

#include <algorithm>
#include <utility>

#include "profiler/allocator/rules.h"
#include "profiler/trace/memory_cursor.h"

namespace vramscope::replay {
namespace {

using allocator::CachingAllocator;
using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

// Extends expandable segments to the address range that they reserved. (Recordings only contain
// addresses that were mapped at some time.) The allocator's choice depends on this range: a block
// that can grow is used only if no other block fits.
void Extend(RecordedState& state, uint64_t device_total, const run::AllocConf& conf) {
  if (device_total == 0 || device_total > allocator::kUnknownDevice)
    device_total = allocator::kUnknownDevice;
  for (size_t i = 0; i < state.segments.size(); ++i) {
    CachingAllocator::SnapshotSegment& s = state.segments[i];
    if (!s.segment.expandable || s.blocks.empty()) continue;
    const uint64_t page = allocator::PageSize(s.segment.pool, conf);
    uint64_t bytes =
        std::max(s.segment.bytes, allocator::ReservedAddresses(device_total, s.segment.pool, conf));
    if (bytes > CachingAllocator::kMaxRequest - page) continue;
    bytes = allocator::RoundUp(bytes, page);
    if (i + 1 < state.segments.size()) {
      bytes = std::min(bytes, state.segments[i + 1].segment.address - s.segment.address);
    }
    bytes = std::min(bytes, ~uint64_t{0} - s.segment.address) / page * page;
    if (bytes <= s.segment.bytes) continue;
    const uint64_t more = bytes - s.segment.bytes;
    if (!s.blocks.back().mapped) {
      s.blocks.back().block.bytes_rounded += more;
    } else if (s.segment.bytes % page != 0) {
      continue;
    } else {
      s.blocks.push_back({.block = {.address = s.segment.address + s.segment.bytes,
                                    .bytes_rounded = more,
                                    .pool = s.segment.pool,
                                    .stream = s.segment.stream},
                          .mapped = false});
    }
    s.segment.bytes = bytes;
  }
}

}  // namespace

RecordedState StateBefore(const trace::Trace& t, EventIndex end, const run::AllocConf& conf) {
  RecordedState out;
  const trace::SegmentTable& s = t.segments;
  const trace::AllocationTable& a = t.allocations;
  if (end == 0) return out;
  const trace::MemoryCursor there = trace::MemoryCursor::Behind(t, end - 1);
  std::vector<uint32_t> rows;
  for (const trace::AllocationId id : there.Live()) rows.push_back(id.value);
  std::sort(rows.begin(), rows.end(),
            [&a](uint32_t x, uint32_t y) { return a.address[x] < a.address[y]; });
  std::vector<uint32_t> segments;
  for (const trace::SegmentId id : there.Segments()) segments.push_back(id.value);
  std::sort(segments.begin(), segments.end(),
            [&s](uint32_t x, uint32_t y) { return s.address[x] < s.address[y]; });

  size_t next = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    const uint32_t row = segments[i];
    CachingAllocator::SnapshotSegment state;
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
    // Adds a range without blocks. In an expandable segment, parts of it may be unmapped.
    const auto fill = [&](uint64_t from, uint64_t to) {
      if (!state.segment.expandable) return put(from, to, true);
      there.mapped().ForEachPiece(from, to, put);
    };
    uint64_t at = state.segment.address;
    const uint64_t segment_end = at + state.segment.bytes;
    const bool can_be_whole = !state.segment.expandable &&
                              state.segment.pool == trace::Pool::kLarge &&
                              conf.max_split_size != run::AllocConf::kNoMaxSplit;
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
      if (can_be_whole && CachingAllocator::RoundSize(a.bytes[b], conf) >= conf.max_split_size) {
        const bool last = next + 1 == rows.size() || a.address[rows[next + 1]] >= segment_end;
        state.blocks.back().block.bytes_rounded =
            (last ? segment_end : a.address[rows[next + 1]]) - a.address[b];
      }
      at = a.address[b] + state.blocks.back().block.bytes_rounded;
    }
    fill(at, segment_end);
    out.segments.push_back(std::move(state));
  }
  out.blocks_left_out += rows.size() - next;
  Extend(out, t.info.device.memory_bytes, conf);
  return out;
}

}  // namespace vramscope::replay
