// Slices (steps, micro-batches, phases, modules, ops) as lanes: rows in which slices do not
// overlap. A query gives the slices wide enough to be drawn as rectangles, and per column what the
// narrower ones add up to. Its cost depends on the columns, not on the trace.
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
  uint32_t slices = 0;  // how many
};

// What the slices narrower than a rectangle come to in one column.
struct LaneColumn {
  uint32_t count = 0;    // slices that begin here (or, in summaries, less than a column away)
  uint32_t longest = 0;  // row of Trace::slices of the longest; 0 when count is 0
  // Of the longest, for its colour, so that nobody has to look it up far away: here the number of a
  // phase, of other slices 0.
  uint8_t look = 0;
  float coverage = 0;  // part of the column's time that they cover, at most 1

  friend bool operator==(const LaneColumn&, const LaneColumn&) = default;
};

// A slice wide enough to be drawn, with what it is drawn by.
struct LaneRect {
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t row = 0;  // of Trace::slices
  uint8_t look = 0;  // LaneColumn's

  friend bool operator==(const LaneRect&, const LaneRect&) = default;
};

struct LaneView {
  std::vector<LaneRect> rects{};  // by begin, rows rise
  std::vector<LaneColumn> columns{};
  // What it was asked for.
  TimeGrid grid{};
  double min_rect_columns = 0;
};

class LaneIndex {
 public:
  explicit LaneIndex(std::shared_ptr<const trace::Trace> trace);
  ~LaneIndex();
  LaneIndex(LaneIndex&&) noexcept;
  LaneIndex& operator=(LaneIndex&&) noexcept;

  // By kind (step first), thread, depth.
  std::span<const Lane> lanes() const;
  // Slices of at least `min_rect_columns` columns come as rects, narrower ones in `columns`. Every
  // slice that meets [begin_ns, end_ns) is in one of the two. Nothing when columns <= 0, end <=
  // begin or there is no such lane.
  LaneView Query(uint32_t lane, int64_t begin_ns, int64_t end_ns, int columns,
                 double min_rect_columns = 1.0) const;
  // The same over the columns of a grid. `view` is what this lane answered before, or empty: of a
  // view that has moved on its grid only the columns that are new are looked up. A slice that
  // begins behind the last column is in none.
  void Ask(uint32_t lane, const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  // The slice of a lane at a time (the innermost moment: begin <= time < end): for hovering.
  std::optional<uint32_t> At(uint32_t lane, int64_t time_ns) const;
  size_t MemoryBytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::query
