// Summarizes memory curves per column of pixels. The time that this takes depends on the columns,
// not on the trace. lane_index.h does the same for slices, block_index.h for allocations.
//
//   CurveIndex index(std::move(curves));                   // once, on the loading thread
//   CurveColumns c = index.Query(begin_ns, end_ns, width); // every frame, < 1 ms
//
// Immutable once built; Query may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/query/max_pyramid.h"
#include "profiler/query/time_grid.h"

namespace vramscope::query {

class TimeSpan;

// The maximum of each curve in each of `columns` equal spans of [begin_ns, end_ns]. A span includes
// the value at its begin and every point in it, so a peak is visible at every zoom level. Values
// before the first point are 0. If columns have hundreds of points, their edges are rounded to
// multiples of 16 points, that is, by a few hundredths of a column.
struct CurveColumns {
  std::vector<uint64_t> allocated_max, reserved_max;
  // category[c][column]: the bytes of each category at the point where the column's allocated bytes
  // are highest. These bytes add up to allocated_max. Empty for a category that never occurs.
  std::array<std::vector<uint64_t>, trace::kCategoryCount> category;
  // In `point`: the column has no point, because it is before the first one.
  static constexpr uint32_t kNoPoint = UINT32_MAX;
  // For each column: the point of the curves whose allocated bytes are allocated_max, or kNoPoint.
  std::vector<uint32_t> point;
  // The grid of the columns.
  TimeGrid grid;
  bool rounded = false;  // there are hundreds of points per column
};

class CurveIndex {
 public:
  explicit CurveIndex(std::shared_ptr<const analysis::MemoryCurves> curves);
  // Empty if columns <= 0 or end <= begin.
  CurveColumns Query(int64_t begin_ns, int64_t end_ns, int columns) const;
  // Like Query() for the columns of a grid, but without a point at the end of the last column.
  // `view` is empty or has the previous result. If the columns only moved, only new columns are
  // computed.
  void Ask(const TimeGrid& grid, CurveColumns* view) const;
  // Returns the edges of the columns of Query(): the begin of each column, then the last one's end.
  static std::vector<int64_t> Edges(int64_t begin_ns, int64_t end_ns, int columns);
  // Returns the most allocated bytes between each edge and the next. Unlike Query(), rounds
  // nothing, so the result for an interval does not depend on other intervals. `edges` must not
  // decrease.
  std::vector<uint64_t> AllocatedBetween(std::span<const int64_t> edges) const;
  size_t MemoryBytes() const;

 private:
  // Returns the first point at or after `time_ns`. Searches from point `from` on.
  size_t FirstAtOrAfter(int64_t time_ns, size_t from) const;

  // Like FirstAtOrAfter(), but rounded up to the next sampled point.
  size_t NearlyAtOrAfter(int64_t time_ns, size_t from) const;
  // Fills columns [from, to) of the query. `first` is the first point of these columns; the last
  // column ends before point `last`.
  void Fill(const TimeSpan& span, int from, int to, size_t first, size_t last,
            CurveColumns* out) const;

  std::shared_ptr<const analysis::MemoryCurves> curves_;
  MaxPyramid allocated_;
  std::vector<int64_t> sampled_times_;  // times of every kSample-th point, few enough for the cache
  std::vector<uint32_t> reserved_point_;  // points at which reserved changes
  std::vector<uint64_t> reserved_value_;
  MaxPyramid reserved_;
};

}  // namespace vramscope::query
