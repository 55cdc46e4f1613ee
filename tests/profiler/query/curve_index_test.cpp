#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "profiler/query/level_of_detail.h"
#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::query {
namespace {

using analysis::MakeRandomTrace;
using analysis::MemoryCurves;

TEST(MaxPyramid, FindsFirstMaximumOfAnyRange) {
  std::mt19937 random(1);
  for (size_t n : {1, 2, 15, 16, 17, 33, 100, 1000, 4099}) {
    std::vector<uint64_t> v(n);
    for (uint64_t& x : v) x = random() % 50;
    const MaxPyramid p(v);
    for (int i = 0; i < 500; ++i) {
      const size_t begin = random() % n, end = begin + 1 + random() % (n - begin);
      const auto first = v.begin() + static_cast<ptrdiff_t>(begin);
      const auto expected = std::max_element(first, v.begin() + static_cast<ptrdiff_t>(end));
      ASSERT_EQ(p.ArgMax(v, begin, end), static_cast<size_t>(expected - v.begin()));
    }
  }
}

// Computes columns by definition. A column is the maximum of the value at its begin and of all
// points in it. The last column includes its end.
CurveColumns Scan(const MemoryCurves& c, int64_t begin, int64_t end, int columns) {
  CurveColumns out;
  const double width = static_cast<double>(end - begin) / columns;
  for (int i = 0; i < columns; ++i) {
    const int64_t left = begin + static_cast<int64_t>(width * i);
    const int64_t right = begin + static_cast<int64_t>(width * (i + 1));
    uint64_t allocated = 0, reserved = 0;
    uint32_t point = CurveColumns::kNoPoint;
    for (uint32_t p = 0; p < c.size(); ++p) {
      const bool inside =
          c.time_ns[p] >= left && (i + 1 < columns ? c.time_ns[p] < right : c.time_ns[p] <= end);
      const bool carried = c.time_ns[p] < left && (p + 1 == c.size() || c.time_ns[p + 1] > left);
      if (!inside && !carried) continue;
      if (point == CurveColumns::kNoPoint || c.allocated[p] > allocated) {
        allocated = c.allocated[p];
        point = p;
      }
      reserved = std::max(reserved, c.reserved[p]);
    }
    out.allocated_max.push_back(allocated);
    out.reserved_max.push_back(reserved);
    out.point.push_back(point);
    for (int k = 0; k < trace::kCategoryCount; ++k) {
      if (c.category[k].empty()) continue;
      out.category[k].push_back(point == CurveColumns::kNoPoint ? 0 : c.category[k][point]);
    }
  }
  return out;
}

TEST(CurveIndex, QueryEqualsLinearScan) {
  for (uint64_t seed = 1; seed < 5; ++seed) {
    const auto t = MakeRandomTrace({.seed = seed, .steps = 1});
    const auto shared = std::make_shared<const MemoryCurves>(analysis::ComputeCurves(*t));
    const MemoryCurves& curves = *shared;
    const CurveIndex index(shared);
    std::mt19937_64 random(seed);
    const int64_t first = t->begin_ns() - 10'000, length = t->end_ns() - t->begin_ns() + 20'000;
    for (int i = 0; i < 60; ++i) {
      int64_t begin = first + static_cast<int64_t>(random() % static_cast<uint64_t>(length));
      int64_t end = begin + 1 + static_cast<int64_t>(random() % (i % 3 ? 5'000 : length));
      if (i == 0) begin = first, end = first + length;
      const int columns = 1 + static_cast<int>(random() % 100);
      const CurveColumns got = index.Query(begin, end, columns);
      const CurveColumns expected = Scan(curves, begin, end, columns);
      ASSERT_EQ(got.allocated_max, expected.allocated_max) << begin << " " << end << " " << columns;
      ASSERT_EQ(got.reserved_max, expected.reserved_max);
      ASSERT_EQ(got.point, expected.point);
      // AllocatedBetween() does not round edges. A column without length still counts one instant,
      // so the results are only compared if all columns have a length.
      if (end - begin >= columns) {
        ASSERT_EQ(index.AllocatedBetween(CurveIndex::Edges(begin, end, columns)),
                  expected.allocated_max);
      }
      for (int c = 0; c < trace::kCategoryCount; ++c) {
        ASSERT_EQ(got.category[c], expected.category[c]);
      }
    }
  }
}

TEST(CurveIndex, HandlesColumnsOfZeroWidth) {
  const auto t = MakeRandomTrace({.seed = 2, .steps = 1});
  const auto shared = std::make_shared<const MemoryCurves>(analysis::ComputeCurves(*t));
  const MemoryCurves& curves = *shared;
  const CurveIndex index(shared);
  const int64_t at = curves.time_ns[curves.size() / 2];
  size_t last = curves.size() / 2;
  while (last + 1 < curves.size() && curves.time_ns[last + 1] == at) ++last;
  EXPECT_TRUE(index.AllocatedBetween({}).empty());
  EXPECT_EQ(CurveIndex::Edges(5, 5, 10).size(), 0u);
  const std::vector<int64_t> edges = {at, at, at};
  for (uint64_t bytes : index.AllocatedBetween(edges)) EXPECT_GT(bytes, 0u);
  const std::vector<int64_t> before = {t->begin_ns() - 100, t->begin_ns() - 50};
  EXPECT_EQ(index.AllocatedBetween(before), std::vector<uint64_t>{0});
}

// A view that has moved must have the same values as a view computed from scratch. Tests columns
// with few points, and with hundreds of points, for which the index rounds edges.
TEST(CurveIndex, MovedViewEqualsNewQuery) {
  for (const int columns : {300, 3}) {
    const auto t = MakeRandomTrace({.seed = 8, .steps = 20, .layers = 12});
    const auto curves = std::make_shared<const MemoryCurves>(analysis::ComputeCurves(*t));
    const CurveIndex index(curves);
    std::mt19937_64 random(4);
    TimeGrid grid{.origin_ns = t->begin_ns(),
                  .width_ns = static_cast<double>((t->end_ns() - t->begin_ns()) / columns / 2),
                  .first = 0,
                  .columns = columns};
    CurveColumns moved;
    int kept = 0, rounded = 0;
    for (int round = 0; round < 100; ++round) {
      grid.first += static_cast<int64_t>(random() % static_cast<uint64_t>(columns)) - columns / 2;
      grid.first = std::max<int64_t>(grid.first, 0);
      kept += grid.MovedFrom(moved.grid);
      index.Ask(grid, &moved);
      rounded += moved.rounded;
      CurveColumns fresh;
      index.Ask(grid, &fresh);
      ASSERT_EQ(moved.point, fresh.point) << columns << ", " << round;
      ASSERT_EQ(moved.allocated_max, fresh.allocated_max);
      ASSERT_EQ(moved.reserved_max, fresh.reserved_max);
      ASSERT_EQ(moved.category, fresh.category);
      if (moved.rounded || round % 25 != 0) continue;
      const auto width = static_cast<int64_t>(grid.width_ns);
      const int64_t begin = grid.origin_ns + width * grid.first;
      const CurveColumns scanned = Scan(*curves, begin, begin + width * columns, columns);
      // Skips the last column, because Scan() also includes its end.
      ASSERT_TRUE(std::equal(moved.point.begin(), moved.point.end() - 1, scanned.point.begin()));
    }
    EXPECT_GT(kept, 50);
    EXPECT_EQ(rounded > 0, columns == 3);
  }
}

// If the peak is at the end of the trace, the last column of the whole trace must include it.
TEST(CurveIndex, ColumnEndingAtLastPointIncludesIt) {
  auto curves = std::make_shared<MemoryCurves>();
  for (const auto& [time, bytes] : {std::pair{0, 10}, {50, 20}, {100, 30}, {100, 70}, {100, 60}}) {
    curves->event.push_back(0);
    curves->time_ns.push_back(time);
    curves->allocated.push_back(static_cast<uint64_t>(bytes));
    curves->requested.push_back(0);
    curves->reserved.push_back(static_cast<uint64_t>(bytes + 5));
  }
  const CurveIndex index(curves);
  CurveColumns view;
  index.Ask({.origin_ns = 0, .width_ns = 10, .first = 0, .columns = 11}, &view);
  EXPECT_EQ(view.allocated_max,
            (std::vector<uint64_t>{10, 10, 10, 10, 10, 20, 20, 20, 20, 70, 70}));
  EXPECT_EQ(view.reserved_max[9], 75u);
  EXPECT_EQ(view.point[9], 3u);
  index.Ask({.origin_ns = 0, .width_ns = 10, .first = 4, .columns = 11}, &view);
  EXPECT_EQ(view.allocated_max,
            (std::vector<uint64_t>{10, 20, 20, 20, 20, 70, 70, 60, 60, 60, 60}));
}

// The index must keep the curves alive, and must not contain pointers to itself.
TEST(CurveIndex, KeepsCurvesAliveWhenMoved) {
  const auto t = MakeRandomTrace({.seed = 5});
  auto curves = std::make_shared<const MemoryCurves>(analysis::ComputeCurves(*t));
  const CurveColumns expected = Scan(*curves, t->begin_ns(), t->end_ns(), 50);
  auto made = std::make_unique<CurveIndex>(std::move(curves));
  const CurveIndex moved = std::move(*made);
  made.reset();
  const CurveColumns got = moved.Query(t->begin_ns(), t->end_ns(), 50);
  EXPECT_EQ(got.allocated_max, expected.allocated_max);
  EXPECT_EQ(got.reserved_max, expected.reserved_max);
}

// If a column has hundreds of points, its value is at least the maximum of the column without its
// edges, and at most the maximum of the column and the nearest parts of its neighbours.
TEST(CurveIndex, DenseColumnsAreExactExceptAtEdges) {
  const auto t = MakeRandomTrace({.seed = 3, .steps = 20, .layers = 12});
  const auto shared = std::make_shared<const MemoryCurves>(analysis::ComputeCurves(*t));
  const MemoryCurves& curves = *shared;
  const CurveIndex index(shared);
  constexpr int kColumns = 20;
  ASSERT_GT(curves.size(), 600u * kColumns);
  const int64_t begin = t->begin_ns(), end = t->end_ns();
  const CurveColumns got = index.Query(begin, end, kColumns);
  const double width = static_cast<double>(end - begin) / kColumns;
  for (int c = 0; c < kColumns; ++c) {
    const auto first =
        static_cast<size_t>(std::lower_bound(curves.time_ns.begin(), curves.time_ns.end(),
                                             begin + static_cast<int64_t>(width * c)) -
                            curves.time_ns.begin());
    const auto last =
        static_cast<size_t>(std::lower_bound(curves.time_ns.begin(), curves.time_ns.end(),
                                             begin + static_cast<int64_t>(width * (c + 1))) -
                            curves.time_ns.begin());
    const auto highest = [&curves](size_t from, size_t to) {
      return *std::max_element(curves.allocated.begin() + static_cast<ptrdiff_t>(from),
                               curves.allocated.begin() + static_cast<ptrdiff_t>(to));
    };
    ASSERT_GE(got.allocated_max[c], highest(first + 16, last));
    ASSERT_LE(got.allocated_max[c],
              highest(first < 17 ? 0 : first - 17, std::min(curves.size(), last + 16)));
    ASSERT_EQ(got.allocated_max[c], curves.allocated[got.point[c]]);
  }
}

TEST(CurveIndex, KeepsPeakAtAnyWidthAndCategoriesAddUp) {
  const auto t = MakeRandomTrace({.seed = 9});
  const auto shared = std::make_shared<const MemoryCurves>(analysis::ComputeCurves(*t));
  const MemoryCurves& curves = *shared;
  const CurveIndex index(shared);
  const uint64_t peak = analysis::FindPeak(*t, curves).allocated;
  for (int columns : {1, 2, 7, 100, 1920, 100'000}) {
    const CurveColumns c = index.Query(t->begin_ns(), t->end_ns(), columns);
    EXPECT_EQ(*std::max_element(c.allocated_max.begin(), c.allocated_max.end()), peak);
    for (int i = 0; i < columns; ++i) {
      uint64_t sum = 0;
      for (const auto& category : c.category) sum += category.empty() ? 0 : category[i];
      ASSERT_EQ(sum, c.allocated_max[i]);
      ASSERT_GE(c.reserved_max[i], c.allocated_max[i]);
    }
  }
}

TEST(CurveIndex, HandlesEmptyCurvesAndExtremeRanges) {
  const CurveIndex empty(std::make_shared<MemoryCurves>());
  EXPECT_EQ(empty.Query(0, 100, 3).allocated_max, (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_TRUE(empty.Query(0, 100, 0).allocated_max.empty());
  EXPECT_TRUE(empty.Query(100, 100, 5).allocated_max.empty());
  const auto t = MakeRandomTrace({.steps = 1});
  const auto shared = std::make_shared<const MemoryCurves>(analysis::ComputeCurves(*t));
  const MemoryCurves& curves = *shared;
  const CurveIndex index(shared);
  const CurveColumns all = index.Query(INT64_MIN, INT64_MAX, 16);
  EXPECT_EQ(*std::max_element(all.allocated_max.begin(), all.allocated_max.end()),
            analysis::FindPeak(*t, curves).allocated);
  EXPECT_EQ(index.Query(INT64_MIN, INT64_MIN + 1, 4).allocated_max[0], 0u);
  EXPECT_EQ(index.Query(INT64_MAX - 1, INT64_MAX, 4).allocated_max[3], curves.allocated.back());
}

}  // namespace
}  // namespace vramscope::query
