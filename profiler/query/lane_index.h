// Arranges slices (steps, micro-batches, phases, modules, ops) in lanes: rows in which slices do
// not overlap. A query returns slices that are wide enough to be drawn as rectangles, and, for each
// column, a summary of the narrower slices. Its cost depends on the columns, not on the trace.
//
//   LaneIndex index(trace);
//   for (uint32_t lane = 0; lane < index.lanes().size(); ++lane) {
//     LaneView v = index.Query(lane, begin_ns, end_ns, width_px);
//     for (const LaneRect& r : v.rects) DrawRect(r.begin_ns, r.end_ns, trace->slices.name[r.row]);
//     for (int x = 0; x < width_px; ++x) if (v.columns[x].count) DrawStrip(x, v.columns[x]);
//   }
//
// Immutable once built; queries may come from any thread. Keeps the trace alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "profiler/query/time_grid.h"
#include "profiler/trace/trace.h"

namespace vramscope::query {

struct Lane {
  trace::SliceKind kind = trace::SliceKind::kStep;
  uint32_t thread = 0;
  uint32_t depth = 0;
  uint32_t slices = 0;  // number of slices
};

// Summary of the slices in one column that are narrower than a rectangle.
struct LaneColumn {
  uint32_t count = 0;    // slices that begin in the column or, due to rounding, in a neighbour
  uint32_t longest = 0;  // row of the longest slice; 0 if count is 0
  // The phase number of the longest slice, or 0 if the slice is not a phase. The number determines
  // the colour, and is stored here to avoid a lookup.
  uint8_t style = 0;
  float coverage = 0;  // fraction of the column's time that its slices cover, at most 1

  friend bool operator==(const LaneColumn&, const LaneColumn&) = default;
};

// A slice wide enough to be drawn, with the properties for drawing.
struct LaneRect {
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t row = 0;   // row in Trace::slices
  uint8_t style = 0;  // see LaneColumn

  friend bool operator==(const LaneRect&, const LaneRect&) = default;
};

struct LaneView {
  std::vector<LaneRect> rects{};  // sorted by begin, with ascending rows
  std::vector<LaneColumn> columns{};
  // Arguments of the query.
  TimeGrid grid{};
  double min_rect_columns = 0;
};

class LaneIndex {
 public:
  explicit LaneIndex(std::shared_ptr<const trace::Trace> trace);
  ~LaneIndex();
  LaneIndex(LaneIndex&&) noexcept;
  LaneIndex& operator=(LaneIndex&&) noexcept;

  // Sorted by kind (step first), thread, depth.
  std::span<const Lane> lanes() const;
  // In the result, `rects` has the slices that are at least `min_rect_columns` columns wide, and
  // `columns` summarizes the others. Each slice that overlaps [begin_ns, end_ns) is in one of the
  // two. The result is empty if columns <= 0, end_ns <= begin_ns, or the lane does not exist.
  LaneView Query(uint32_t lane, int64_t begin_ns, int64_t end_ns, int columns,
                 double min_rect_columns = 1.0) const;
  // Like Query() for the columns of a grid. `view` is empty or contains the previous result of this
  // lane. If the grid's columns moved but their width did not change, only the new columns are
  // computed. Leaves out slices that begin after the last column.
  void Ask(uint32_t lane, const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  // Returns the lane's slice at `time_ns` (begin <= time_ns < end), for hovering.
  std::optional<uint32_t> At(uint32_t lane, int64_t time_ns) const;
  size_t MemoryBytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::query
