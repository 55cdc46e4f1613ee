// Columns of equal time. Those of one grid are the same for every view at one scale: a view that
// moves looks up the columns that come into it and keeps the others.
#pragma once

#include <cstdint>

namespace vramscope::query {

struct TimeGrid {
  int64_t origin_ns = 0;  // where column 0 begins
  double width_ns = 1;    // of a column, more than 0
  int64_t first = 0;      // column, at least 0
  int columns = 0;

  int64_t last() const { return first + columns; }
  // Other columns of the same grid, as many.
  bool MovedFrom(const TimeGrid& before) const {
    return origin_ns == before.origin_ns && width_ns == before.width_ns &&
           columns == before.columns && first - before.first < columns &&
           before.first - first < columns;
  }
};

}  // namespace vramscope::query
