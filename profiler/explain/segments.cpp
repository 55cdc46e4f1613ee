// Lists the segments that exist at one event, and the pieces (blocks and free ranges) of each.
#include <algorithm>
#include <tuple>
#include <utility>

#include "profiler/explain/explain.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/segment_record.h"

namespace vramscope::explain {
namespace {

using trace::EndOf;
using trace::EventIndex;

// Builds the pieces of a mapped range from its blocks, which must be passed in order of address.
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

using Range = std::pair<uint64_t, uint64_t>;  // begin, end

void Fill(SegmentView& view, const std::vector<Range>& mapped,
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
      // Files can be inconsistent, so a block that overlaps the previous block or extends past the
      // range is truncated.
      const uint64_t block_end = std::min(EndOf(block.address, block.bytes), end);
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

std::vector<SegmentView> SegmentsAt(const trace::Trace& trace, EventIndex event) {
  std::vector<SegmentView> out;
  if (trace.events.size() == 0) return out;
  event = std::min(event, trace.events.size() - 1);
  const trace::MemoryCursor at = trace::MemoryCursor::Behind(trace, event);
  const trace::SegmentTable& s = trace.segments;
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> view_of(s.size(), kNone);
  for (const trace::SegmentId segment : at.Segments()) {
    const uint32_t id = segment.value;
    if (trace::IsReservedTotal(trace, segment)) continue;
    view_of[id] = static_cast<uint32_t>(out.size());
    out.push_back({.segment = segment,
                   .address = s.address[id],
                   .stream = s.stream[id],
                   .mempool = s.mempool[id],
                   .device = s.device[id],
                   .pool = s.pool[id],
                   .expandable = s.expandable[id] != 0});
  }
  const trace::AllocationTable& a = trace.allocations;
  std::vector<std::vector<SegmentView::Piece>> blocks(out.size());
  for (const trace::AllocationId block : at.Live()) {
    const uint32_t id = block.value;
    if (!a.segment[id].valid()) continue;
    const uint32_t view = view_of[a.segment[id].value];
    if (view == kNone) continue;
    blocks[view].push_back({.address = a.address[id],
                            .bytes = a.bytes_rounded[id],
                            .allocation = block,
                            .use = a.free_requested_event[id] <= event ? SegmentView::Use::kPending
                                                                       : SegmentView::Use::kLive});
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t id = out[i].segment.value;
    const uint64_t begin = s.address[id], end = EndOf(begin, s.bytes[id]);
    std::vector<Range> ranges;
    if (out[i].expandable) {
      for (const auto& [from, to] : at.mapped().Within(begin, end)) ranges.emplace_back(from, to);
    } else {
      ranges.emplace_back(begin, end);
    }
    Fill(out[i], ranges, blocks[i]);
  }
  std::sort(out.begin(), out.end(), [](const SegmentView& x, const SegmentView& y) {
    return std::tie(x.address, x.segment) < std::tie(y.address, y.segment);
  });
  return out;
}

}  // namespace vramscope::explain
