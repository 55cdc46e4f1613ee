// The data of a row of the timeline: pieces of time, sorted by begin, and summaries of 4, 16, 64,
// ... pieces. Thus the cost of a query depends only on its columns. A piece is a slice (LaneIndex),
// an activity (ActivityIndex) or an idle gap (IdleGaps). Internal to this folder.
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
    style_.reserve(count);
  }
  // Must be called in order of begin, with ascending rows. For `style`, see LaneColumn.
  void Add(int64_t begin_ns, int64_t end_ns, uint32_t row, uint8_t style) {
    begin_.push_back(begin_ns);
    duration_.push_back(Duration(begin_ns, end_ns));
    row_.push_back(row);
    style_.push_back(style);
  }
  // Must be called once, after the last Add().
  void Build();

  // Requires columns > 0, begin < end.
  LaneView Query(int64_t begin_ns, int64_t end_ns, int columns, double min_rect_columns) const;
  // See LaneIndex::Ask.
  void Ask(const TimeGrid& grid, double min_rect_columns, LaneView* view) const;
  // Returns the pieces that last at least `least_ns` and overlap [begin_ns, end_ns). Summaries help
  // to skip shorter pieces.
  std::vector<LaneRect> Wide(int64_t begin_ns, int64_t end_ns, uint64_t least_ns) const;
  std::optional<uint32_t> At(int64_t time_ns) const;
  size_t MemoryBytes() const;

 private:
  // kFan is the number of pieces per bottom node, and the number of children of every other node.
  // The smaller kFan is, the fewer nodes a query reads for a column with many pieces. With two
  // instead of four, the nodes would need more memory than the pieces.
  static constexpr size_t kFanBits = 2, kFan = size_t{1} << kFanBits;

  // A summary of consecutive pieces. Nodes are small, because half of the time of a frame is spent
  // reading them. Values are rounded so that, at worst, a query reads a node's children
  // needlessly.
  struct Node {
    int64_t begin;
    float span;             // time from `begin` to the highest end, rounded up
    float longest_ns;       // rounded up
    uint32_t longest;       // row of the longest piece
    uint32_t style : 8;     // LaneColumn::style of the longest piece
    uint32_t covered : 24;  // sum of the durations as a fraction of the span, rounded down
  };
  static_assert(sizeof(Node) == 24);
  class Walk;

  // The number of pieces of a node.
  uint32_t PiecesOf(size_t level, size_t index) const {
    const size_t all = kFan << kFanBits * level;
    return static_cast<uint32_t>(std::min(row_.size() - index * all, all));
  }
  LaneRect Piece(size_t i) const {
    const int64_t begin = begin_[i];
    return {begin, EndOf(begin, duration_[i]), row_[i], style_[i]};
  }
  // Calls take(LaneRect) for the pieces of Wide() in nodes [first, last) of a level.
  template <class Take>
  void VisitWide(size_t level, size_t first, size_t last, int64_t begin_ns, int64_t end_ns,
                 uint64_t least_ns, Take take) const;

  static int64_t EndOf(int64_t begin, uint64_t duration) {
    return static_cast<int64_t>(static_cast<uint64_t>(begin) + duration);
  }
  static bool EndsBefore(const Node& n, int64_t time_ns) {
    return (n.begin < time_ns) && (static_cast<double>(Duration(n.begin, time_ns)) > n.span);
  }

  trace::PackedColumn<int64_t> begin_;
  trace::PackedColumn<uint64_t> duration_;
  trace::PackedColumn<uint32_t> row_;
  trace::PackedColumn<uint8_t> style_;
  std::vector<std::vector<Node>> levels_;  // [0] is the bottom; the last has one node
};

}  // namespace vramscope::query
