// What a row of a picture is asked: pieces of time by their begin, and summaries over runs of 4,
// 16, 64, ... of them, so that a query costs its columns. LaneIndex has slices in it, ActivityIndex
// activities. Internal to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/query/lane_index.h"
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
  // In order of begin, rows rising. `look`: LaneColumn's.
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
  // LaneIndex's.
  void Ask(const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  // Those that take at least `least_ns` and meet [begin_ns, end_ns); the others cost nothing.
  std::vector<LaneRect> Wide(int64_t begin_ns, int64_t end_ns, uint64_t least_ns) const;
  std::optional<uint32_t> At(int64_t time_ns) const;
  size_t MemoryBytes() const;

 private:
  // Pieces of a bottom node, and nodes of one above. Of few, a column of a picture takes few of
  // them, however many pieces it has; of fewer, they would weigh more than the pieces.
  static constexpr size_t kFanBits = 2, kFan = size_t{1} << kFanBits;

  // Of consecutive pieces. Half of a frame is spent with these: they are small, and what is rounded
  // is rounded to where it is only looked at more closely.
  struct Node {
    int64_t begin;
    float span;             // to the highest end, rounded up
    float longest_ns;       // rounded up
    uint32_t longest;       // row
    uint32_t look : 8;      // of the longest
    uint32_t covered : 24;  // sum of the durations, in parts of the span, rounded down
  };
  static_assert(sizeof(Node) == 24);
  class Walk;

  // How many a node has.
  uint32_t PiecesOf(size_t level, size_t index) const {
    const size_t all = kFan << kFanBits * level;
    return static_cast<uint32_t>(std::min(row_.size() - index * all, all));
  }
  LaneRect Piece(size_t i) const {
    const int64_t begin = begin_[i];
    return {begin, EndOf(begin, duration_[i]), row_[i], look_[i]};
  }
  // Of nodes [first, last) of a level; `take(LaneRect)`.
  template <class Take>
  void VisitWide(size_t level, size_t first, size_t last, int64_t begin_ns, int64_t end_ns,
                 uint64_t least_ns, Take take) const;

  static int64_t EndOf(int64_t begin, uint64_t duration) {
    return static_cast<int64_t>(static_cast<uint64_t>(begin) + duration);
  }
  static bool EndsBefore(const Node& n, int64_t time_ns) {
    return n.begin<time_ns&& static_cast<double>(Duration(n.begin, time_ns))> n.span;
  }

  trace::PackedColumn<int64_t> begin_;
  trace::PackedColumn<uint64_t> duration_;
  trace::PackedColumn<uint32_t> row_;
  trace::PackedColumn<uint8_t> look_;
  std::vector<std::vector<Node>> levels_;  // [0]: the bottom; the last has one node (none: empty)
};

}  // namespace vramscope::query
