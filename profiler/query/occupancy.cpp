#include "profiler/query/occupancy.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vramscope::query {
namespace {

constexpr int kCoarsest = 64;  // Add() makes no level with fewer columns or rows than this

// Returns a level with half as many columns and rows, rounded up: each of its cells merges four
// cells of `fine`. If the number of columns or rows is odd, the last one counts twice.
OccupancyLevel Halved(const OccupancyLevel& fine) {
  OccupancyLevel out{.columns = (fine.columns + 1) / 2,
                     .rows = (fine.rows + 1) / 2,
                     .coverage = {},
                     .largest = {}};
  const size_t cells = static_cast<size_t>(out.columns) * static_cast<size_t>(out.rows);
  out.coverage.resize(cells);
  out.largest.resize(cells);
  for (int y = 0; y < out.rows; ++y) {
    for (int x = 0; x < out.columns; ++x) {
      uint32_t sum = 0, best = 0;
      size_t best_at = 0;
      for (int v : {2 * y, std::min(2 * y + 1, fine.rows - 1)}) {
        for (int u : {2 * x, std::min(2 * x + 1, fine.columns - 1)}) {
          const size_t at =
              static_cast<size_t>(v) * static_cast<size_t>(fine.columns) + static_cast<size_t>(u);
          sum += fine.coverage[at];
          if (fine.coverage[at] > best) best = fine.coverage[at], best_at = at;
        }
      }
      const size_t at =
          static_cast<size_t>(y) * static_cast<size_t>(out.columns) + static_cast<size_t>(x);
      // Rounds up, so that occupied cells remain visible.
      out.coverage[at] = static_cast<uint8_t>((sum + 3) / 4);
      out.largest[at] = fine.largest[best_at];
    }
  }
  return out;
}

}  // namespace

void OccupancyMap::Add(OccupancyLevel level) {
  levels_.push_back(std::move(level));
  while (std::min(levels_.back().columns, levels_.back().rows) >= 2 * kCoarsest) {
    OccupancyLevel half = Halved(levels_.back());
    levels_.push_back(std::move(half));
  }
}

const OccupancyLevel& OccupancyMap::LevelFor(double columns, double rows) const {
  const OccupancyLevel* best = nullptr;
  double best_score = 0;
  for (const OccupancyLevel& l : levels_) {
    // Divides the level's resolution by the requested one. The smaller of both directions'
    // quotients counts. A quotient of 0.75 suffices: of several levels that have it, the one with
    // the fewest cells is preferred.
    const double fine = std::min({0.75, l.columns / columns, l.rows / rows});
    const double cells = static_cast<double>(l.columns) * l.rows;
    const double score = fine + 1e-3 / std::log2(2 + cells);
    if (best == nullptr || score > best_score) {
      best = &l;
      best_score = score;
    }
  }
  return *best;
}

std::vector<CellRange> CellRanges(double from, double to, int grid, int level) {
  std::vector<CellRange> out(static_cast<size_t>(grid));
  for (int i = 0; i < grid; ++i) {
    const double a = (from + (to - from) * i / grid) * level;
    const double b = (from + (to - from) * (i + 1) / grid) * level;
    if (b <= 0 || a >= level) {
      out[static_cast<size_t>(i)] = {0, 0};  // outside the plane
      continue;
    }
    // Takes the level's cells whose centres are in [a, b) or, if there are none, the cell at the
    // centre of [a, b).
    int begin = static_cast<int>(std::ceil(std::clamp(a, 0.0, level - 1.0) - 0.5));
    int end = static_cast<int>(std::ceil(std::clamp(b, 0.0, static_cast<double>(level)) - 0.5));
    if (end <= begin) {
      begin = static_cast<int>(std::clamp((a + b) / 2, 0.0, level - 1.0));
      end = begin + 1;
    }
    out[static_cast<size_t>(i)] = {std::max(0, begin), std::min(end, level)};
  }
  return out;
}

size_t OccupancyMap::MemoryBytes() const {
  size_t bytes = 0;
  for (const OccupancyLevel& l : levels_) {
    bytes += l.coverage.capacity() + l.largest.capacity() * sizeof(uint32_t);
  }
  return bytes;
}

}  // namespace vramscope::query
