// Answers "what is in these pixels" about memory curves, in time that depends on the pixels and not
// on the trace. Slices: lane_index.h; allocations as address x time: block_index.h.
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

// Highest values over each of `columns` equal spans of [begin_ns, end_ns]: the curves of a picture.
// A span counts what holds when it begins and every point in it, however short: a peak of one event
// is in its column at every zoom. All zero before the first point. Where a column has hundreds of
// points, its edges are rounded to 16 of them, a few hundredths of a column.
struct CurveColumns {
  std::vector<uint64_t> allocated_max, reserved_max;
  // Per column, the category split at the column's highest allocated value: category[c][column];
  // the categories of a column add up to its allocated_max. Empty: a category never present.
  std::array<std::vector<uint64_t>, trace::kCategoryCount> category;
  // Per column, the point of `curves` of allocated_max; kNoPoint before the first.
  static constexpr uint32_t kNoPoint = UINT32_MAX;
  std::vector<uint32_t> point;
  // Of Ask().
  TimeGrid grid;
  bool rounded = false;  // there are hundreds of points a column
};

class CurveIndex {
 public:
  explicit CurveIndex(std::shared_ptr<const analysis::MemoryCurves> curves);
  // columns <= 0 or end <= begin: nothing.
  CurveColumns Query(int64_t begin_ns, int64_t end_ns, int columns) const;
  // The same over the columns of a grid; a point at the end of the last is in none. `view` is what
  // this curve answered before, or empty: of a view that has moved on its grid only the columns
  // that are new are looked up.
  void Ask(const TimeGrid& grid, CurveColumns* view) const;
  // Where the columns of Query begin, and where the last one ends: columns + 1 times.
  static std::vector<int64_t> Edges(int64_t begin_ns, int64_t end_ns, int columns);
  // The highest allocated bytes between each edge and the next, in the sense of Query but without
  // its rounding: the same edges give the same answer, whatever the other curves are. `edges` do
  // not fall.
  std::vector<uint64_t> AllocatedBetween(std::span<const int64_t> edges) const;
  size_t MemoryBytes() const;

 private:
  // First point at or after `time_ns`, searched from `from` on.
  size_t FirstAtOrAfter(int64_t time_ns, size_t from) const;

  // The same, rounded up to the next sampled point.
  size_t NearlyAtOrAfter(int64_t time_ns, size_t from) const;
  // Columns [from, to) of what is asked; points from `first` on, and of the last column before
  // `last`.
  void Fill(const TimeSpan& span, int from, int to, size_t first, size_t last,
            CurveColumns* out) const;

  std::shared_ptr<const analysis::MemoryCurves> curves_;
  MaxPyramid allocated_;
  std::vector<int64_t> sampled_times_;    // of every kSample-th point: stays in cache
  std::vector<uint32_t> reserved_point_;  // where reserved changes
  std::vector<uint64_t> reserved_value_;
  MaxPyramid reserved_;
};

}  // namespace vramscope::query
