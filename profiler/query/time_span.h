// A window of time cut into equal columns. Internal to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vramscope::query {

// Unsigned, because any two int64_t are legal times; begin <= end.
inline uint64_t Duration(int64_t begin_ns, int64_t end_ns) {
  return static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(begin_ns);
}

class TimeSpan {
 public:
  // columns > 0, begin < end.
  TimeSpan(int64_t begin_ns, int64_t end_ns, int columns)
      : begin_(begin_ns),
        columns_(columns),
        width_(static_cast<double>(Duration(begin_ns, end_ns)) / columns),
        per_ns_(1.0 / width_) {}

  double width() const { return width_; }  // of a column, in ns
  // Where a column begins, 0 <= column < columns.
  int64_t Edge(int column) const {
    return static_cast<int64_t>(static_cast<uint64_t>(begin_) +
                                static_cast<uint64_t>(width_ * column));
  }
  // The column of a time, clamped to the window.
  int Column(int64_t time_ns) const {
    const double c = Position(time_ns);
    return c <= 0 ? 0 : c >= columns_ ? columns_ - 1 : static_cast<int>(c);
  }
  // In columns from the window's begin, not clamped.
  double Position(int64_t time_ns) const {
    return (static_cast<double>(time_ns) - static_cast<double>(begin_)) * per_ns_;
  }

 private:
  int64_t begin_;
  int columns_;
  double width_;
  double per_ns_;
};

}  // namespace vramscope::query
