// The segments at a moment, piece by piece.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "profiler/explain/explain.h"

namespace vramscope::explain {
namespace {

using trace::EventIndex;
using trace::EventKind;

uint64_t End(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes;
  return end < address ? std::numeric_limits<uint64_t>::max() : end;
}

// Mapped ranges of one expandable segment: begin -> end, neither touching nor overlapping.
class Ranges {
 public:
  void Map(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
    while (it != ranges_.end() && it->first <= end) {
      begin = std::min(begin, it->first);
      end = std::max(end, it->second);
      it = ranges_.erase(it);
    }
    ranges_.emplace(begin, end);
  }
  void Unmap(uint64_t begin, uint64_t end) {
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin()) --it;
    while (it != ranges_.end() && it->first < end) {
      const auto [from, to] = *it;
      if (to <= begin) {
        ++it;
        continue;
      }
      it = ranges_.erase(it);
      if (from < begin) ranges_.emplace(from, begin);
      if (to > end) ranges_.emplace(end, to);
    }
  }
  const std::map<uint64_t, uint64_t>& ranges() const { return ranges_; }

 private:
  std::map<uint64_t, uint64_t> ranges_;
};

std::map<uint32_t, Ranges> MappedAt(const trace::Trace& trace, EventIndex event) {
  std::map<uint32_t, Ranges> mapped;
  const auto& expandable = trace.segments.expandable;
  if (std::find(expandable.begin(), expandable.end(), 1) == expandable.end()) return mapped;
  const trace::ActivityTable& a = trace.activities;
  for (uint32_t row = 0; row < a.size() && a.event[row] <= event; ++row) {
    const EventKind kind = trace.events.kind[a.event[row]];
    if (kind != EventKind::kSegmentMap && kind != EventKind::kSegmentUnmap) continue;
    Ranges& ranges = mapped[static_cast<uint32_t>(trace.events.id[a.event[row]])];
    const uint64_t end = End(a.address[row], trace.events.bytes[a.event[row]]);
    kind == EventKind::kSegmentMap ? ranges.Map(a.address[row], end)
                                   : ranges.Unmap(a.address[row], end);
  }
  return mapped;
}

// The pieces of a mapped range with its blocks, which come by address.
class PieceBuilder {
 public:
  explicit PieceBuilder(SegmentView& view) : view_(view) {}

  void Unmapped(uint64_t begin, uint64_t end) {
    if (begin < end) {
      view_.pieces.push_back(
          {.address = begin, .bytes = end - begin, .use = SegmentView::Use::kUnmapped});
    }
  }
  void Free(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    view_.largest_hole = std::max(view_.largest_hole, end - begin);
    view_.pieces.push_back({.address = begin, .bytes = end - begin});
  }
  void Block(SegmentView::Piece piece) {
    view_.live_bytes += piece.bytes;
    view_.pieces.push_back(piece);
  }

 private:
  SegmentView& view_;
};

void Fill(SegmentView& view, const std::map<uint64_t, uint64_t>& mapped,
          std::vector<SegmentView::Piece>& blocks) {
  std::sort(blocks.begin(), blocks.end(),
            [](const auto& x, const auto& y) { return x.address < y.address; });
  PieceBuilder builder(view);
  size_t next = 0;
  uint64_t unmapped_from = view.address;
  for (const auto& [begin, end] : mapped) {
    builder.Unmapped(unmapped_from, begin);
    unmapped_from = end;
    view.bytes += end - begin;
    uint64_t at = begin;
    for (; next < blocks.size() && blocks[next].address < end; ++next) {
      SegmentView::Piece block = blocks[next];
      // What overlaps the block before it, or leaves the range, is cut off: files lie.
      const uint64_t block_end = std::min(End(block.address, block.bytes), end);
      block.address = std::max(block.address, at);
      if (block_end <= block.address) continue;
      block.bytes = block_end - block.address;
      builder.Free(at, block.address);
      builder.Block(block);
      at = block_end;
    }
    builder.Free(at, end);
  }
}

}  // namespace

std::vector<SegmentView> SegmentsAt(const trace::Trace& trace, EventIndex event,
                                    std::optional<uint8_t> device) {
  std::vector<SegmentView> out;
  if (trace.events.size() == 0) return out;
  event = std::min(event, trace.events.size() - 1);
  const trace::SegmentTable& s = trace.segments;
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> view_of(s.size(), kNone);
  for (uint32_t id = 0; id < s.size() && s.alloc_event[id] <= event; ++id) {
    if (s.free_event[id] <= event) continue;  // kNoEvent is the greatest
    if (device && s.device[id] != *device) continue;
    view_of[id] = static_cast<uint32_t>(out.size());
    out.push_back({.segment = {id},
                   .address = s.address[id],
                   .stream = s.stream[id],
                   .mempool = s.mempool[id],
                   .device = s.device[id],
                   .pool = s.pool[id],
                   .expandable = s.expandable[id] != 0});
  }
  const trace::AllocationTable& a = trace.allocations;
  std::vector<std::vector<SegmentView::Piece>> blocks(out.size());
  for (uint32_t id = 0; id < a.size() && a.alloc_event[id] <= event; ++id) {
    if (a.free_event[id] <= event || !a.segment[id].valid()) continue;
    const uint32_t view = view_of[a.segment[id].value];
    if (view == kNone) continue;
    blocks[view].push_back({.address = a.address[id],
                            .bytes = a.bytes_rounded[id],
                            .allocation = {id},
                            .use = a.free_requested_event[id] <= event ? SegmentView::Use::kPending
                                                                       : SegmentView::Use::kLive});
  }
  std::map<uint32_t, Ranges> mapped = MappedAt(trace, event);
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t id = out[i].segment.value;
    if (out[i].expandable) {
      Fill(out[i], mapped[id].ranges(), blocks[i]);
    } else {
      Fill(out[i], {{s.address[id], End(s.address[id], s.bytes[id])}}, blocks[i]);
    }
  }
  std::sort(out.begin(), out.end(), [](const SegmentView& x, const SegmentView& y) {
    return std::tie(x.device, x.address, x.segment) < std::tie(y.device, y.address, y.segment);
  });
  return out;
}

}  // namespace vramscope::explain
