#include "profiler/query/lane_data.h"

namespace vramscope::query {
namespace {

constexpr size_t kBase = 16;  // pieces of a bottom node

}  // namespace

void LaneData::Build() {
  levels_ = BuildPyramid<Node>(
      row_.size(), kBase, [this](size_t i) { return Single(i); },
      [](Node& n, const Node& more) {
        n.end = std::max(n.end, more.end);
        if (more.max_duration > n.max_duration) {
          n.max_duration = more.max_duration;
          n.longest = more.longest;
        }
        n.covered += more.covered;
        n.count += more.count;
      });
}

class LaneData::Walk {
 public:
  Walk(const LaneData& lane, int64_t begin, int64_t end, int columns, double min_rect_columns)
      : lane_(lane),
        begin_(begin),
        end_(end),
        span_(begin, end, columns),
        min_rect_ns_(min_rect_columns * span_.width()),
        longest_ns_(static_cast<size_t>(columns)) {
    view.columns.resize(static_cast<size_t>(columns));
  }

  void Visit(size_t level, size_t index) {
    const Node& n = lane_.levels_[level][index];
    if (n.end < begin_ || n.begin >= end_) return;
    if (static_cast<double>(n.max_duration) < min_rect_ns_ &&
        static_cast<double>(Duration(n.begin, n.end)) <= span_.width()) {
      AddToColumn(n);
    } else if (level > 0) {
      Visit(level - 1, 2 * index);
      if (2 * index + 1 < lane_.levels_[level - 1].size()) Visit(level - 1, 2 * index + 1);
    } else {
      const size_t last = std::min(lane_.row_.size(), (index + 1) * kBase);
      for (size_t i = index * kBase; i < last; ++i) {
        if (lane_.end_[i] < begin_ || lane_.begin_[i] >= end_) continue;
        if (static_cast<double>(Duration(lane_.begin_[i], lane_.end_[i])) >= min_rect_ns_) {
          view.rects.push_back(lane_.row_[i]);
        } else {
          AddToColumn(lane_.Single(i));
        }
      }
    }
  }

  LaneView view;

 private:
  void AddToColumn(const Node& n) {
    const auto c = static_cast<size_t>(span_.Column(n.begin));
    LaneColumn& column = view.columns[c];
    column.count += n.count;
    column.coverage =
        static_cast<float>(std::min(1.0, static_cast<double>(column.coverage) +
                                             static_cast<double>(n.covered) / span_.width()));
    if (column.count == n.count || n.max_duration > longest_ns_[c]) {  // the first, or longer
      longest_ns_[c] = n.max_duration;
      column.longest = n.longest;
    }
  }

  const LaneData& lane_;
  int64_t begin_, end_;
  TimeSpan span_;
  double min_rect_ns_;
  std::vector<uint64_t> longest_ns_;
};

LaneView LaneData::Query(int64_t begin_ns, int64_t end_ns, int columns,
                         double min_rect_columns) const {
  Walk walk(*this, begin_ns, end_ns, columns, min_rect_columns);
  if (!levels_.back().empty()) walk.Visit(levels_.size() - 1, 0);
  return std::move(walk.view);
}

std::optional<uint32_t> LaneData::At(int64_t time_ns) const {
  const auto after = std::upper_bound(begin_.begin(), begin_.end(), time_ns);
  if (after == begin_.begin()) return std::nullopt;
  const auto i = static_cast<size_t>(after - begin_.begin()) - 1;
  if (time_ns >= end_[i]) return std::nullopt;
  return row_[i];
}

size_t LaneData::MemoryBytes() const {
  size_t bytes = row_.capacity() * (sizeof(uint32_t) + 2 * sizeof(int64_t));
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(Node);
  return bytes;
}

}  // namespace vramscope::query
