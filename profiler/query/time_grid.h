// A grid of columns of equal time. All views at one scale use the same columns, so after a move, a
// view only has to compute the columns that were not visible before.
#pragma once

#include <cstdint>

namespace vramscope::query {

struct TimeGrid {
  int64_t origin_ns = 0;  // begin of column 0
  double width_ns = 1;    // width of a column, more than 0
  int64_t first = 0;      // first column, at least 0
  int columns = 0;

  int64_t last() const { return first + columns; }
  // Whether the two grids differ at most by a move that leaves some columns in common.
  bool MovedFrom(const TimeGrid& before) const {
    return origin_ns == before.origin_ns && width_ns == before.width_ns &&
           columns == before.columns && first - before.first < columns &&
           before.first - first < columns;
  }
};

}  // namespace vramscope::query
