// Finds allocations as rectangles of time x packed address. A query returns rectangles that are
// large enough on the screen, and a coarse grid that shows the area covered by smaller rectangles.
//
//   AddressAxis axis(trace);
//   BlockIndex index(trace, axis);
//   BlockView v = index.Query(begin_ns, end_ns, 0, axis.size(), width_px, height_px);
//   for (const BlockRect& r : v.rects) DrawRect(r, color(trace->allocations.category[r.row]));
//   for (int y = 0; y < v.grid_rows; ++y) for (int x = 0; x < v.grid_columns; ++x)
//     if (const BlockCell& c = v.cell(x, y); c.coverage > 0) DrawCell(x, y, c);
//
// Immutable once built; queries may come from any thread. Keeps the trace alive; the axis is only
// used while building.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/query/address_axis.h"
#include "profiler/trace/trace.h"

namespace vramscope::query {

struct BlockRect {
  uint32_t row = 0;  // row of Trace::allocations
  int64_t begin_ns = 0, end_ns = 0;
  uint64_t offset = 0, bytes = 0;  // position and size on the packed axis
};

struct BlockCell {
  float coverage = 0;    // fraction of the cell's area (time x bytes) that small blocks cover
  uint32_t largest = 0;  // row of the block with the largest area in the cell
};

struct BlockView {
  std::vector<BlockRect> rects;
  // The cells of the grid have cell_px x cell_px pixels. The first one is at the window's begin and
  // lowest address; row 0 has the lowest addresses.
  int cell_px = 0;
  int grid_columns = 0, grid_rows = 0;
  std::vector<BlockCell> cells;
  const BlockCell& cell(int column, int row) const {
    return cells[static_cast<size_t>(row) * static_cast<size_t>(grid_columns) +
                 static_cast<size_t>(column)];
  }
};

class BlockIndex {
 public:
  BlockIndex(std::shared_ptr<const trace::Trace> trace, const AddressAxis& axis);
  ~BlockIndex();
  BlockIndex(BlockIndex&&) noexcept;
  BlockIndex& operator=(BlockIndex&&) noexcept;

  struct Options {
    double min_rect_px = 1.0;  // blocks with both sides at least this long are rectangles,
                               // and all other blocks are in the grid
    int cell_px = 4;
    // If the window has at most about this many blocks, the grid is exact. Otherwise it is sampled
    // from precomputed maps of the whole trace, and the area of the rectangles is subtracted. The
    // rectangles are always exact.
    size_t max_exact_blocks = 10'000;
  };
  // Addresses are packed offsets (AddressAxis). Empty if the window or the drawing area is empty.
  BlockView Query(int64_t begin_ns, int64_t end_ns, uint64_t offset_begin, uint64_t offset_end,
                  int width_px, int height_px, const Options& options) const;
  BlockView Query(int64_t begin_ns, int64_t end_ns, uint64_t offset_begin, uint64_t offset_end,
                  int width_px, int height_px) const {
    return Query(begin_ns, end_ns, offset_begin, offset_end, width_px, height_px, Options{});
  }
  // Returns the allocation at a point (begin <= time < end), for hovering and selecting.
  std::optional<trace::AllocationId> At(int64_t time_ns, uint64_t offset) const;
  size_t MemoryBytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::query
