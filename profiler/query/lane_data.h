// What a row of a picture is asked: pieces of time by their begin, and summaries over runs of them,
// so that a query costs its columns. LaneIndex has slices in it, ActivityIndex activities. Internal
// to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/query/lane_index.h"
#include "profiler/query/pyramid.h"
#include "profiler/query/time_span.h"
#include "profiler/trace/packed_column.h"

namespace vramscope::query {

class LaneData {
 public:
  void Reserve(size_t count) {
    begin_.reserve(count);
    duration_.reserve(count);
    row_.reserve(count);
    look_.reserve(count);
  }
  // In order of begin. `look`: LaneColumn's.
  void Add(int64_t begin_ns, int64_t end_ns, uint32_t row, uint8_t look) {
    begin_.push_back(begin_ns);
    duration_.push_back(Duration(begin_ns, end_ns));
    row_.push_back(row);
    look_.push_back(look);
  }
  // Once, after the last.
  void Build();

  // columns > 0, begin < end.
  LaneView Query(int64_t begin_ns, int64_t end_ns, int columns, double min_rect_columns) const;
  // Rows of those that take at least `least_ns` and meet [begin_ns, end_ns); the others cost
  // nothing.
  std::vector<uint32_t> Wide(int64_t begin_ns, int64_t end_ns, uint64_t least_ns) const;
  std::optional<uint32_t> At(int64_t time_ns) const;
  size_t MemoryBytes() const;

 private:
  // Of consecutive pieces.
  struct Node {
    int64_t begin = 0;
    int64_t end = 0;  // highest
    uint64_t max_duration = 0;
    uint64_t covered = 0;  // sum of durations
    uint32_t longest = 0;  // row
    uint32_t count = 0;
    uint8_t look = 0;  // of the longest
  };
  class Walk;

  template <class Take>
  void VisitWide(size_t level, size_t index, int64_t begin_ns, int64_t end_ns, uint64_t least_ns,
                 Take take) const;

  static int64_t EndOf(int64_t begin, uint64_t duration) {
    return static_cast<int64_t>(static_cast<uint64_t>(begin) + duration);
  }
  Node Single(size_t i) const {
    const int64_t begin = begin_[i];
    const uint64_t d = duration_[i];
    return {.begin = begin,
            .end = EndOf(begin, d),
            .max_duration = d,
            .covered = d,
            .longest = row_[i],
            .count = 1,
            .look = look_[i]};
  }

  trace::PackedColumn<int64_t> begin_;
  trace::PackedColumn<uint64_t> duration_;
  trace::PackedColumn<uint32_t> row_;
  trace::PackedColumn<uint8_t> look_;
  Pyramid<Node> levels_;
};

}  // namespace vramscope::query
