#include "profiler/query/block_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::query {
namespace {

using analysis::MakeRandomTrace;

TEST(BlockIndex, LargeBlocksAreRectsAndSmallOnesCoverage) {
  for (uint64_t seed = 1; seed < 5; ++seed) {
    const auto t = MakeRandomTrace({.seed = seed, .segments = seed != 3});
    const AddressAxis axis(t);
    const BlockIndex index(t, axis);
    const trace::AllocationTable& a = t->allocations;
    std::mt19937_64 random(seed);
    const auto span = static_cast<uint64_t>(t->end_ns() - t->begin_ns());
    for (int round = 0; round < 60; ++round) {
      int64_t begin = t->begin_ns() + static_cast<int64_t>(random() % span);
      int64_t end = begin + 1 + static_cast<int64_t>(random() % span);
      uint64_t low = random() % axis.size();
      uint64_t high = low + 1 + random() % axis.size();
      if (round < 10) begin = t->begin_ns(), end = t->end_ns() + 1, low = 0, high = axis.size();
      const int width = 1 + static_cast<int>(random() % 1000);
      const int height = 1 + static_cast<int>(random() % 600);
      const BlockView v = index.Query(begin, end, low, high, width, height);
      const double ns = static_cast<double>(end - begin) / width;
      const double bytes = static_cast<double>(high - low) / height;

      std::vector<uint32_t> expected, got;
      double small_area = 0;
      for (uint32_t id = 0; id < a.size(); ++id) {
        const uint64_t offset = axis.OffsetOf({id});
        const int64_t block_end = std::max(a.end_ns[id], a.begin_ns[id] + 1);
        if (block_end <= begin || a.begin_ns[id] >= end || offset >= high ||
            offset + a.bytes_rounded[id] <= low) {
          continue;
        }
        if (static_cast<double>(block_end - a.begin_ns[id]) >= ns &&
            static_cast<double>(a.bytes_rounded[id]) >= bytes) {
          expected.push_back(id);
        } else {
          const double w =
              static_cast<double>(std::min(end, block_end) - std::max(begin, a.begin_ns[id]));
          const double h = static_cast<double>(std::min(high, offset + a.bytes_rounded[id]) -
                                               std::max(low, offset));
          small_area += w * h;
        }
      }
      for (const BlockRect& r : v.rects) {
        got.push_back(r.row);
        ASSERT_EQ(r.begin_ns, a.begin_ns[r.row]);
        ASSERT_EQ(r.end_ns, a.end_ns[r.row]);
        ASSERT_EQ(r.bytes, a.bytes_rounded[r.row]);
        ASSERT_EQ(r.offset, axis.OffsetOf({r.row}));
      }
      std::sort(got.begin(), got.end());
      ASSERT_EQ(got, expected);

      ASSERT_EQ(v.cells.size(), static_cast<size_t>(v.grid_columns * v.grid_rows));
      double covered = 0;
      bool any = false;
      for (const BlockCell& c : v.cells) {
        ASSERT_GE(c.coverage, 0.0f);
        ASSERT_LE(c.coverage, 1.0f);
        ASSERT_LT(c.largest, a.size());
        covered += c.coverage * ns * bytes * v.cell_px * v.cell_px;
        any |= c.coverage > 0;
      }
      ASSERT_EQ(any, small_area > 0) << "only small blocks are counted in cells";
      if (round < 10) {
        // The first views show the whole trace, so that no block is cut off at the edges.
        EXPECT_NEAR(covered / small_area, 1.0, 0.15) << width << "x" << height;
      }
    }
  }
}

// In a view of a large part, coverage maps replace the exact grid. The rectangles must still be
// exact, but coverage may be approximate.
TEST(BlockIndex, CoverageMapsApproximateTheExactGrid) {
  const auto t = MakeRandomTrace({.seed = 7, .steps = 30, .layers = 12});
  ASSERT_GT(t->allocations.size(), 10'000u);
  const AddressAxis axis(t);
  const BlockIndex index(t, axis);
  const int64_t begin = t->begin_ns(), end = t->end_ns(), span = end - begin;
  const uint64_t top = axis.size();
  const struct {
    int64_t begin, end;
    uint64_t low, high;
  } windows[] = {{begin, end, 0, top},
                 {begin + span / 3, begin + span / 2, 0, top},
                 {begin, end, top / 4, top / 2},
                 {begin - span / 2, end + span / 2, 0, 2 * top}};
  for (const auto& w : windows) {
    const BlockView exact =
        index.Query(w.begin, w.end, w.low, w.high, 960, 400, {.max_exact_blocks = 1u << 30});
    const BlockView far =
        index.Query(w.begin, w.end, w.low, w.high, 960, 400, {.max_exact_blocks = 0});
    ASSERT_EQ(far.rects.size(), exact.rects.size());
    for (size_t i = 0; i < far.rects.size(); ++i) ASSERT_EQ(far.rects[i].row, exact.rects[i].row);
    double sum_far = 0, sum_exact = 0, difference = 0;
    for (size_t i = 0; i < far.cells.size(); ++i) {
      ASSERT_GE(far.cells[i].coverage, 0.0f);
      ASSERT_LE(far.cells[i].coverage, 1.0f);
      ASSERT_LT(far.cells[i].largest, t->allocations.size());
      sum_far += far.cells[i].coverage;
      sum_exact += exact.cells[i].coverage;
      difference += std::abs(far.cells[i].coverage - exact.cells[i].coverage);
    }
    const double cells = static_cast<double>(far.cells.size());
    EXPECT_NEAR(sum_far / cells, sum_exact / cells, 0.05);
    EXPECT_LT(difference / cells, 0.10);
  }
}

TEST(BlockIndex, FindsBlockAtTimeAndOffset) {
  const auto t = MakeRandomTrace({.seed = 6});
  const AddressAxis axis(t);
  const BlockIndex index(t, axis);
  const trace::AllocationTable& a = t->allocations;
  std::mt19937_64 random(2);
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const int64_t time =
        t->begin_ns() +
        static_cast<int64_t>(random() % static_cast<uint64_t>(t->end_ns() - t->begin_ns()));
    const uint64_t offset = random() % axis.size();
    const std::optional<trace::AllocationId> got = index.At(time, offset);
    std::optional<trace::AllocationId> expected;
    for (uint32_t id = 0; id < a.size(); ++id) {
      const uint64_t low = axis.OffsetOf({id});
      if (a.begin_ns[id] <= time && time < a.end_ns[id] && low <= offset &&
          offset < low + a.bytes_rounded[id]) {
        expected = trace::AllocationId{id};
      }
    }
    ASSERT_EQ(got, expected);
    found += got.has_value();
  }
  EXPECT_GT(found, 100);
}

TEST(BlockIndex, HandlesEmptyTracesAndExtremeRanges) {
  const auto t = MakeRandomTrace({.steps = 1});
  const AddressAxis axis(t);
  const BlockIndex index(t, axis);
  EXPECT_TRUE(index.Query(0, 0, 0, 100, 10, 10).cells.empty());
  EXPECT_TRUE(index.Query(0, 10, 5, 5, 10, 10).cells.empty());
  EXPECT_TRUE(index.Query(0, 10, 0, 5, 0, 10).cells.empty());
  const BlockView all = index.Query(INT64_MIN, INT64_MAX, 0, UINT64_MAX, 33, 17);
  EXPECT_EQ(all.grid_columns, 9);
  EXPECT_EQ(all.grid_rows, 5);
  trace::TraceBuilder b;
  const auto none = b.Finish(true, "");
  const BlockIndex empty(none, AddressAxis(none));
  EXPECT_TRUE(empty.Query(0, 10, 0, 10, 10, 10).rects.empty());
  EXPECT_FALSE(empty.At(0, 0).has_value());
}

}  // namespace
}  // namespace vramscope::query
