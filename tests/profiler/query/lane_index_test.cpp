#include "profiler/query/lane_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::query {
namespace {

using analysis::MakeRandomTrace;

std::vector<uint32_t> RowsOf(const LaneView& view) {
  std::vector<uint32_t> rows;
  for (const LaneRect& r : view.rects) rows.push_back(r.row);
  return rows;
}

TEST(LaneIndex, LanesHoldEverySliceOnce) {
  const auto t = MakeRandomTrace({.seed = 2});
  const LaneIndex index(t);
  uint64_t slices = 0;
  for (size_t i = 0; i < index.lanes().size(); ++i) {
    const Lane& lane = index.lanes()[i];
    slices += lane.slices;
    if (i > 0) {
      const Lane& last = index.lanes()[i - 1];
      EXPECT_LT(std::tuple(last.kind, last.thread, last.depth),
                std::tuple(lane.kind, lane.thread, lane.depth));
    }
  }
  EXPECT_EQ(slices, t->slices.size());
}

// A wide slice in the window must become a rectangle. A narrow one must be counted in a column.
TEST(LaneIndex, EverySliceIsARectOrCounted) {
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const auto t = MakeRandomTrace({.seed = seed, .ops_per_layer = 20});
    const trace::SliceTable& s = t->slices;
    const LaneIndex index(t);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 100; ++round) {
      const auto lane_number = static_cast<uint32_t>(random() % index.lanes().size());
      const Lane lane = index.lanes()[lane_number];
      const auto span = static_cast<uint64_t>(t->end_ns() - t->begin_ns());
      int64_t begin = t->begin_ns() + static_cast<int64_t>(random() % span);
      int64_t end = begin + 1 + static_cast<int64_t>(random() % span);
      if (round < 10) begin = t->begin_ns() - 5, end = t->end_ns() + 5;
      const int columns = 1 + static_cast<int>(random() % 500);
      const double min_rect = 1.0 + static_cast<double>(random() % 3);
      const LaneView v = index.Query(lane_number, begin, end, columns, min_rect);
      ASSERT_EQ(v.columns.size(), static_cast<size_t>(columns));
      const double width = static_cast<double>(end - begin) / columns;

      std::vector<uint32_t> rects;
      uint64_t narrow = 0, narrow_near = 0;
      for (uint32_t i = 0; i < s.size(); ++i) {
        if (s.kind[i] != lane.kind || s.thread[i] != lane.thread || s.depth[i] != lane.depth) {
          continue;
        }
        const bool wide = static_cast<double>(s.end_ns[i] - s.begin_ns[i]) >= min_rect * width;
        const bool meets = s.end_ns[i] >= begin && s.begin_ns[i] < end;
        if (wide && meets) rects.push_back(i);
        narrow += !wide && meets;
        // The columns at the window's edges may include slices that are up to one column outside.
        narrow_near += !wide &&
                       static_cast<double>(s.end_ns[i]) >= static_cast<double>(begin) - width &&
                       static_cast<double>(s.begin_ns[i]) < static_cast<double>(end) + width;
      }
      ASSERT_EQ(RowsOf(v), rects);
      uint64_t counted = 0;
      for (const LaneColumn& c : v.columns) {
        counted += c.count;
        ASSERT_GE(c.coverage, 0.0f);
        ASSERT_LE(c.coverage, 1.0f);
        if (c.count > 0) {
          ASSERT_EQ(s.kind[c.longest], lane.kind);
        }
      }
      ASSERT_GE(counted, narrow);
      ASSERT_LE(counted, narrow_near);
    }
  }
}

// A view that has moved back and forth, by small and large distances, must equal a view that is
// computed from scratch.
TEST(LaneIndex, MovedViewEqualsNewQuery) {
  const auto t = MakeRandomTrace({.seed = 5, .ops_per_layer = 20});
  const LaneIndex index(t);
  std::mt19937_64 random(2);
  const auto length = static_cast<double>(t->end_ns() - t->begin_ns());
  uint64_t kept = 0, rects = 0;
  for (uint32_t lane = 0; lane < index.lanes().size(); ++lane) {
    for (const double part : {0.9, 0.2, 0.01}) {
      TimeGrid grid{.origin_ns = t->begin_ns() - 7,
                    .width_ns = part * length / 300,
                    .first = static_cast<int64_t>((1 - part) / 2 / part * 300),
                    .columns = 301};
      LaneView moved;
      for (int round = 0; round < 40; ++round) {
        const int64_t most = round % 4 == 0 ? 700 : 20;
        grid.first += static_cast<int64_t>(random() % static_cast<uint64_t>(2 * most)) - most;
        grid.first = std::max<int64_t>(grid.first, 0);
        kept += grid.MovedFrom(moved.grid);
        index.Ask(lane, grid, 2, &moved);
        LaneView fresh;
        index.Ask(lane, grid, 2, &fresh);
        ASSERT_EQ(moved.rects, fresh.rects) << lane << ", " << round;
        ASSERT_EQ(moved.columns, fresh.columns) << lane << ", " << round;
        rects += fresh.rects.size();
      }
    }
  }
  EXPECT_GT(kept, 500u);
  EXPECT_GT(rects, 1000u);
}

// If a grid begins where the window begins, a query with the grid must have the same result as a
// query with the window. Only the last column may differ.
TEST(LaneIndex, GridQueryEqualsWindowQuery) {
  const auto t = MakeRandomTrace({.seed = 6, .ops_per_layer = 20});
  const LaneIndex index(t);
  const int64_t begin = t->begin_ns() + 1000, end = begin + (t->end_ns() - begin) / 2;
  constexpr int kColumns = 200;
  for (uint32_t lane = 0; lane < index.lanes().size(); ++lane) {
    const LaneView window = index.Query(lane, begin, end, kColumns, 2);
    LaneView view;
    index.Ask(lane, window.grid, 2, &view);
    ASSERT_TRUE(std::equal(view.columns.begin(), view.columns.end() - 1, window.columns.begin()));
    for (const LaneRect& r : window.rects) {
      EXPECT_EQ(r.begin_ns, t->slices.begin_ns[r.row]);
      EXPECT_EQ(r.end_ns, t->slices.end_ns[r.row]);
      EXPECT_NE(std::ranges::find(view.rects, r), view.rects.end());
    }
  }
}

TEST(LaneIndex, CoverageIsTheCoveredTime) {
  const auto t = MakeRandomTrace({.seed = 3});
  const LaneIndex index(t);
  for (uint32_t lane = 0; lane < index.lanes().size(); ++lane) {
    constexpr int kColumns = 40;
    const int64_t begin = t->begin_ns(), end = t->end_ns() + 1;
    // No slice is wide enough to become a rectangle.
    const LaneView v = index.Query(lane, begin, end, kColumns, 1e9);
    EXPECT_TRUE(v.rects.empty());
    const double width = static_cast<double>(end - begin) / kColumns;
    double covered = 0, expected = 0;
    for (const LaneColumn& c : v.columns) covered += c.coverage * width;
    const Lane& l = index.lanes()[lane];
    for (uint32_t i = 0; i < t->slices.size(); ++i) {
      if (t->slices.kind[i] == l.kind && t->slices.thread[i] == l.thread &&
          t->slices.depth[i] == l.depth) {
        expected += static_cast<double>(t->slices.end_ns[i] - t->slices.begin_ns[i]);
      }
    }
    // A slice longer than a column covers at most the whole column. So the sum must not exceed the
    // true value.
    EXPECT_LE(covered, expected * 1.0001);
    if (l.kind == trace::SliceKind::kOp) {
      EXPECT_GT(covered, expected * 0.8);
    }
  }
}

TEST(LaneIndex, FindsSliceAtATime) {
  const auto t = MakeRandomTrace({.seed = 4, .steps = 1});
  const LaneIndex index(t);
  std::mt19937_64 random(1);
  int found = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto lane = static_cast<uint32_t>(random() % index.lanes().size());
    const int64_t time =
        t->begin_ns() - 10 +
        static_cast<int64_t>(random() % static_cast<uint64_t>(t->end_ns() - t->begin_ns() + 20));
    const std::optional<uint32_t> got = index.At(lane, time);
    std::optional<uint32_t> expected;
    const Lane& l = index.lanes()[lane];
    for (uint32_t r = 0; r < t->slices.size(); ++r) {
      if (t->slices.kind[r] == l.kind && t->slices.thread[r] == l.thread &&
          t->slices.depth[r] == l.depth && t->slices.begin_ns[r] <= time &&
          time < t->slices.end_ns[r]) {
        expected = r;
      }
    }
    ASSERT_EQ(got, expected);
    found += got.has_value();
  }
  EXPECT_GT(found, 100);
}

TEST(LaneIndex, HandlesInvalidLanesAndExtremeRanges) {
  const auto t = MakeRandomTrace({.steps = 1});
  const LaneIndex index(t);
  EXPECT_TRUE(index.Query(0, 0, 0, 10).columns.empty());
  EXPECT_TRUE(index.Query(0, 0, 10, 0).columns.empty());
  EXPECT_TRUE(index.Query(9999, 0, 10, 5).columns.empty());
  EXPECT_FALSE(index.At(9999, 0).has_value());
  LaneView of_another = index.Query(0, 0, 100, 10);
  index.Ask(9999, of_another.grid, 1, &of_another);
  EXPECT_TRUE(of_another.columns.empty());
  const LaneView all = index.Query(0, INT64_MIN, INT64_MAX, 8);
  uint64_t count = all.rects.size();
  for (const LaneColumn& c : all.columns) count += c.count;
  EXPECT_EQ(count, index.lanes()[0].slices);
  EXPECT_TRUE(LaneIndex(MakeRandomTrace({.steps = 0, .layers = 0})).lanes().size() <= 1);
}

}  // namespace
}  // namespace vramscope::query
