// Stores, for every part of the time x address plane, the fraction that blocks cover, at several
// resolutions. Used by views in which blocks are too small to be told apart. Internal to this
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::query {

// Cells of equal size over the whole plane.
struct OccupancyLevel {
  int columns = 0, rows = 0;
  std::vector<uint8_t> coverage;  // 0: empty; 255: fully covered
  std::vector<uint32_t> largest;  // row of the allocation that covers most of each cell
};

// A part of the plane; coordinates from 0 to 1.
struct OccupancyWindow {
  double left = 0, right = 1, bottom = 0, top = 1;
};

class OccupancyMap {
 public:
  // Stores the level, and coarser levels computed from it.
  void Add(OccupancyLevel level);
  bool empty() const { return levels_.empty(); }
  // Calls cell(column, row, coverage 0..1, largest) for every non-empty cell of a grid over the
  // window. Uses the coarsest level with enough resolution or, if none has enough, the finest
  // level.
  template <class Cell>
  void Sample(const OccupancyWindow& window, int columns, int rows, Cell cell) const;
  size_t MemoryBytes() const;

 private:
  const OccupancyLevel& LevelFor(double columns, double rows) const;
  std::vector<OccupancyLevel> levels_;
};

// Along one axis: the range of the level's cells that a cell of the grid contains.
struct CellRange {
  int begin, end;
};
std::vector<CellRange> CellRanges(double from, double to, int grid, int level);

template <class Cell>
void OccupancyMap::Sample(const OccupancyWindow& window, int columns, int rows, Cell cell) const {
  const OccupancyLevel& level =
      LevelFor(columns / (window.right - window.left), rows / (window.top - window.bottom));
  const std::vector<CellRange> xs = CellRanges(window.left, window.right, columns, level.columns);
  const std::vector<CellRange> ys = CellRanges(window.bottom, window.top, rows, level.rows);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      uint32_t sum = 0, best = 0, count = 0;
      size_t best_at = 0;
      for (int v = ys[y].begin; v < ys[y].end; ++v) {
        const size_t line = static_cast<size_t>(v) * static_cast<size_t>(level.columns);
        for (int u = xs[x].begin; u < xs[x].end; ++u) {
          const size_t at = line + static_cast<size_t>(u);
          const uint32_t c = level.coverage[at];
          sum += c;
          ++count;
          if (c > best) best = c, best_at = at;
        }
      }
      if (sum > 0) {
        cell(x, y, static_cast<float>(sum) / (255.0f * static_cast<float>(count)),
             level.largest[best_at]);
      }
    }
  }
}

}  // namespace vramscope::query
