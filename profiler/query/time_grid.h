// Columns of equal time. The columns of a grid are the same for every view at one scale, so a view
// that moves computes only the new columns and keeps the others.
#pragma once

#include <cstdint>

namespace vramscope::query {

struct TimeGrid {
  int64_t origin_ns = 0;  // begin of column 0
  double width_ns = 1;    // width of a column, more than 0
  int64_t first = 0;      // first column, at least 0
  int columns = 0;

  int64_t last() const { return first + columns; }
  // Whether this is a moved view of the same grid: as many columns, some of which are in both.
  bool MovedFrom(const TimeGrid& before) const {
    return origin_ns == before.origin_ns && width_ns == before.width_ns &&
           columns == before.columns && first - before.first < columns &&
           before.first - first < columns;
  }
};

}  // namespace vramscope::query
