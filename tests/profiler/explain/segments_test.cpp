#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/explain/explain.h"
#include "tests/profiler/analysis/random_trace.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using trace::Category;
using Use = SegmentView::Use;

TEST(Segments, PiecesCoverTheSegmentInAddressOrder) {
  TraceMaker m;
  m.Segment(kBase, 20 * kMiB);
  const uint64_t first = m.Alloc({.address = kBase, .bytes = 4 * kMiB});
  m.Alloc({.address = kBase + 8 * kMiB, .bytes = 2 * kMiB});
  const uint64_t waits = m.Alloc({.address = kBase + 12 * kMiB, .bytes = kMiB});
  m.FreeRequested(waits);
  m.Free(first);
  const auto t = m.Finish();

  const std::vector<SegmentView> views = SegmentsAt(*t, t->events.size() - 1);
  ASSERT_EQ(views.size(), 1u);
  const SegmentView& v = views[0];
  EXPECT_EQ(v.bytes, 20 * kMiB);
  EXPECT_EQ(v.live_bytes, 3 * kMiB);
  EXPECT_EQ(v.largest_hole, 8 * kMiB);
  ASSERT_EQ(v.pieces.size(), 5u);
  EXPECT_EQ(v.pieces[0].use, Use::kFree);
  EXPECT_EQ(v.pieces[0].bytes, 8 * kMiB);
  EXPECT_EQ(v.pieces[1].use, Use::kLive);
  EXPECT_EQ(v.pieces[1].allocation.value, 1u);
  EXPECT_EQ(v.pieces[3].use, Use::kPending);
  EXPECT_EQ(v.pieces[4].bytes, 7 * kMiB);
}

TEST(Segments, ExpandableSegmentCountsMappedMemory) {
  TraceMaker m;
  m.Segment(kBase, 1024 * kMiB, trace::Pool::kLarge, true);
  const auto map = [&](trace::EventKind kind, uint64_t offset, uint64_t bytes) {
    m.Add({.kind = kind,
           .pool = trace::Pool::kLarge,
           .id = 0,
           .address = kBase + offset,
           .bytes = bytes});
  };
  map(trace::EventKind::kSegmentMap, 0, 40 * kMiB);
  map(trace::EventKind::kSegmentMap, 40 * kMiB, 20 * kMiB);
  m.Alloc({.address = kBase + 50 * kMiB, .bytes = 4 * kMiB});
  const trace::EventIndex before = m.last();
  map(trace::EventKind::kSegmentUnmap, 20 * kMiB, 20 * kMiB);
  const auto t = m.Finish();

  Fragmentation f = FragmentationAt(*t, before);
  EXPECT_EQ(f.reserved, 60 * kMiB);
  EXPECT_EQ(f.cached, 40 * kMiB) << "two pages of 20 MiB without a block";
  EXPECT_EQ(f.holes, 16 * kMiB);
  EXPECT_EQ(f.largest_hole, 50 * kMiB);

  const std::vector<SegmentView> views = SegmentsAt(*t, m.last());
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].bytes, 40 * kMiB);
  EXPECT_EQ(views[0].pieces[1].use, Use::kUnmapped);
  EXPECT_EQ(views[0].pieces[1].bytes, 20 * kMiB);
  f = FragmentationAt(*t, m.last());
  EXPECT_EQ(f.reserved, 40 * kMiB);
  EXPECT_EQ(f.cached, 20 * kMiB);
}

TEST(Segments, ClipsBlocksThatOverlapOrExceedTheSegment) {
  TraceMaker m;
  m.Segment(kBase, 2 * kMiB);
  m.Alloc({.address = kBase, .bytes = kMiB});
  m.Alloc({.address = kBase + kMiB / 2, .bytes = 8 * kMiB});
  m.Alloc({.address = kBase + kMiB, .bytes = ~uint64_t{0} >> 2});
  const auto t = m.Finish();
  const std::vector<SegmentView> views = SegmentsAt(*t, m.last());
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].live_bytes, 2 * kMiB);
  uint64_t at = kBase;
  for (const SegmentView::Piece& p : views[0].pieces) {
    EXPECT_EQ(p.address, at);
    at += p.bytes;
  }
  EXPECT_EQ(at, kBase + 2 * kMiB);
}

TEST(Fragmentation, SplitsUnusedMemoryByCause) {
  TraceMaker m;
  m.info.device.memory_bytes = 1024 * kMiB;
  m.Segment(kBase, 20 * kMiB);
  m.Segment(kBase + 100 * kMiB, 30 * kMiB);
  // 1000 bytes are rounded to 1024. The block is 3 KiB larger, because the rest was not split off.
  const uint64_t small = m.Alloc({.address = kBase,
                                  .bytes = 1000,
                                  .rounded = 4096,
                                  .category = Category::kGradient,
                                  .op = "aten::mm",
                                  .module = "layer"});
  m.Alloc({.address = kBase + 10 * kMiB, .bytes = 2 * kMiB});
  const auto t = m.Finish();

  const Fragmentation f = FragmentationAt(*t, m.last());
  EXPECT_EQ(f.allocated, 2 * kMiB + 4096);
  EXPECT_EQ(f.rounding, 24u);
  EXPECT_EQ(f.tails, 3072u);
  EXPECT_EQ(f.cached, 30 * kMiB);
  EXPECT_EQ(f.holes, 18 * kMiB - 4096);
  EXPECT_EQ(f.largest_hole, 30 * kMiB);
  EXPECT_EQ(f.segments, 2u);
  EXPECT_EQ(f.segments_cached, 1u);
  ASSERT_EQ(f.pools.size(), 1u);
  EXPECT_EQ(f.pools[0].reserved, 50 * kMiB);
  ASSERT_EQ(f.pinned.size(), 1u);
  EXPECT_EQ(f.pinned[0].pin_count, 2u);
  EXPECT_EQ(f.pinned[0].free, f.holes);
  EXPECT_EQ(f.pinned[0].pins[1].allocation.value, small);
  EXPECT_EQ(f.pinned[0].pins[1].category, Category::kGradient);
  EXPECT_EQ(f.pinned[0].pins[1].site.name, "layer > aten::mm");
  EXPECT_THAT(f.headline, ::testing::HasSubstr("48.00 MiB of the 50.00 MiB"));
}

TEST(Fragmentation, CountsBlocksOutsideSegments) {
  TraceMaker m;
  m.Alloc({.address = kBase, .bytes = kMiB});
  const Fragmentation f = FragmentationAt(*m.Finish(), 0);
  EXPECT_EQ(f.outside, kMiB);
  EXPECT_EQ(f.reserved, 0u);
  const Fragmentation nothing = FragmentationAt(*TraceMaker().Finish(), 7);
  EXPECT_EQ(nothing.allocated, 0u);
}

TEST(Fragmentation, AddsUpInRandomTraces) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const auto t = analysis::MakeRandomTrace({.seed = seed, .steps = 2, .micro_batches = 1});
    const uint32_t stride = std::max(1u, t->events.size() / 150);
    for (trace::EventIndex event = 0; event < t->events.size(); event += stride) {
      const analysis::LiveSet live = analysis::LiveAt(*t, event);
      uint64_t reserved = 0, inside = 0;
      for (const SegmentView& v : SegmentsAt(*t, event)) {
        uint64_t at = v.address, of_blocks = 0, hole = 0;
        for (size_t i = 0; i < v.pieces.size(); ++i) {
          ASSERT_EQ(v.pieces[i].address, at);
          at += v.pieces[i].bytes;
          ASSERT_GT(v.pieces[i].bytes, 0u);
          if (v.pieces[i].allocation.valid()) {
            of_blocks += v.pieces[i].bytes;
            ASSERT_EQ(v.pieces[i].bytes,
                      t->allocations.bytes_rounded[v.pieces[i].allocation.value]);
          } else {
            hole = std::max(hole, v.pieces[i].bytes);
            ASSERT_TRUE(i == 0 || v.pieces[i - 1].allocation.valid()) << "two free pieces in a row";
          }
        }
        ASSERT_EQ(at, v.address + v.bytes);
        ASSERT_EQ(of_blocks, v.live_bytes);
        ASSERT_EQ(hole, v.largest_hole);
        reserved += v.bytes;
        inside += v.live_bytes;
      }
      ASSERT_EQ(reserved, live.reserved);
      ASSERT_EQ(inside, live.allocated);
      const Fragmentation f = FragmentationAt(*t, event);
      ASSERT_EQ(f.reserved, f.allocated + f.holes + f.cached);
      ASSERT_EQ(f.allocated, f.requested + f.rounding + f.tails);
      ASSERT_EQ(f.outside, 0u);
      uint64_t shared = 0;
      for (const analysis::Group& g : f.pinned_by) shared += g.bytes;
      ASSERT_EQ(shared, f.holes) << "every free byte is pinned by some block";
    }
  }
}

}  // namespace
}  // namespace vramscope::explain
