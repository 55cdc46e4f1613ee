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

namespace vramscope::query {

class LaneData {
 public:
  void Reserve(size_t count) {
    begin_.reserve(count);
    end_.reserve(count);
    row_.reserve(count);
  }
  // In order of begin.
  void Add(int64_t begin_ns, int64_t end_ns, uint32_t row) {
    begin_.push_back(begin_ns);
    end_.push_back(end_ns);
    row_.push_back(row);
  }
  // Once, after the last.
  void Build();

  // columns > 0, begin < end.
  LaneView Query(int64_t begin_ns, int64_t end_ns, int columns, double min_rect_columns) const;
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
  };
  class Walk;

  Node Single(size_t i) const {
    const uint64_t d = Duration(begin_[i], end_[i]);
    return {.begin = begin_[i],
            .end = end_[i],
            .max_duration = d,
            .covered = d,
            .longest = row_[i],
            .count = 1};
  }

  std::vector<int64_t> begin_, end_;
  std::vector<uint32_t> row_;
  Pyramid<Node> levels_;
};

}  // namespace vramscope::query
