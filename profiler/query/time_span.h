// A time window divided into equal columns. Internal to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "profiler/query/time_grid.h"

namespace vramscope::query {

// Requires begin <= end. Returns an unsigned number, because the difference of two int64_t may not
// fit into an int64_t.
inline uint64_t Duration(int64_t begin_ns, int64_t end_ns) {
  return static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(begin_ns);
}

class TimeSpan {
 public:
  explicit TimeSpan(const TimeGrid& grid) : grid_(grid), per_ns_(1.0 / grid.width_ns) {}
  // A span whose grid begins at begin_ns. Requires columns > 0 and begin < end.
  TimeSpan(int64_t begin_ns, int64_t end_ns, int columns)
      : TimeSpan(TimeGrid{.origin_ns = begin_ns,
                          .width_ns = static_cast<double>(Duration(begin_ns, end_ns)) / columns,
                          .first = 0,
                          .columns = columns}) {}

  const TimeGrid& grid() const { return grid_; }
  double width() const { return grid_.width_ns; }  // width of a column in ns
  // Returns the begin of a column. Columns count from 0.
  int64_t Edge(int column) const {
    return static_cast<int64_t>(
        static_cast<uint64_t>(grid_.origin_ns) +
        static_cast<uint64_t>(width() * static_cast<double>(grid_.first + column)));
  }
  // Returns the position of a time, in columns from the window's begin, not clamped. In two windows
  // of one grid, the positions of a time differ by a whole number of columns.
  double Position(int64_t time_ns) const {
    const double from_origin = time_ns >= grid_.origin_ns
                                   ? static_cast<double>(Duration(grid_.origin_ns, time_ns))
                                   : -static_cast<double>(Duration(time_ns, grid_.origin_ns));
    return from_origin * per_ns_ - static_cast<double>(grid_.first);
  }

 private:
  TimeGrid grid_;
  double per_ns_;
};

// Moves the columns that are still visible when the window has moved by `by` columns (negative: to
// the left).
template <class Column>
void MoveColumns(std::vector<Column>* columns, int64_t by) {
  if (by > 0)
    std::move(columns->begin() + by, columns->end(), columns->begin());
  else
    std::move_backward(columns->begin(), columns->end() + by, columns->end());
}

}  // namespace vramscope::query
