#include "profiler/query/lane_data.h"

#include <tuple>
#include <utility>

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
          n.look = more.look;
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
      AddToColumn(n.begin, n.max_duration, n.covered, n.count,
                  [&] { return std::pair(n.longest, n.look); });
    } else if (level > 0) {
      Visit(level - 1, 2 * index);
      if (2 * index + 1 < lane_.levels_[level - 1].size()) Visit(level - 1, 2 * index + 1);
    } else {
      const size_t last = std::min(lane_.row_.size(), (index + 1) * kBase);
      for (size_t i = index * kBase; i < last; ++i) {
        // Which row it is and how it looks is taken apart of few.
        const int64_t begin = lane_.begin_[i];
        const uint64_t duration = lane_.duration_[i];
        if (lane_.EndOf(begin, duration) < begin_ || begin >= end_) continue;
        if (static_cast<double>(duration) >= min_rect_ns_) {
          view.rects.push_back(lane_.row_[i]);
        } else {
          AddToColumn(begin, duration, duration, 1,
                      [&] { return std::pair(lane_.row_[i], lane_.look_[i]); });
        }
      }
    }
  }

  LaneView view;

 private:
  // `longest`: row and look of the longest.
  template <class Longest>
  void AddToColumn(int64_t begin, uint64_t max_duration, uint64_t covered, uint32_t count,
                   Longest longest) {
    const auto c = static_cast<size_t>(span_.Column(begin));
    LaneColumn& column = view.columns[c];
    column.count += count;
    column.coverage = static_cast<float>(std::min(
        1.0, static_cast<double>(column.coverage) + static_cast<double>(covered) / span_.width()));
    if (column.count == count || max_duration > longest_ns_[c]) {  // the first, or longer
      longest_ns_[c] = max_duration;
      std::tie(column.longest, column.look) = longest();
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

template <class Take>
void LaneData::VisitWide(size_t level, size_t index, int64_t begin_ns, int64_t end_ns,
                         uint64_t least_ns, Take take) const {
  const Node& n = levels_[level][index];
  if (n.end < begin_ns || n.begin >= end_ns || n.max_duration < least_ns) return;
  if (level > 0) {
    VisitWide(level - 1, 2 * index, begin_ns, end_ns, least_ns, take);
    if (2 * index + 1 < levels_[level - 1].size())
      VisitWide(level - 1, 2 * index + 1, begin_ns, end_ns, least_ns, take);
    return;
  }
  const size_t last = std::min(row_.size(), (index + 1) * kBase);
  for (size_t i = index * kBase; i < last; ++i) {
    if (duration_[i] < least_ns) continue;
    const Node one = Single(i);
    if (one.end >= begin_ns && one.begin < end_ns) take(one.longest);
  }
}

std::vector<uint32_t> LaneData::Wide(int64_t begin_ns, int64_t end_ns, uint64_t least_ns) const {
  std::vector<uint32_t> rows;
  if (!levels_.back().empty())
    VisitWide(levels_.size() - 1, 0, begin_ns, end_ns, least_ns,
              [&rows](uint32_t row) { rows.push_back(row); });
  return rows;
}

std::optional<uint32_t> LaneData::At(int64_t time_ns) const {
  const auto after = std::upper_bound(begin_.begin(), begin_.end(), time_ns);
  if (after == begin_.begin()) return std::nullopt;
  const auto i = static_cast<size_t>(after - begin_.begin()) - 1;
  const Node one = Single(i);
  if (time_ns >= one.end) return std::nullopt;
  return one.longest;
}

size_t LaneData::MemoryBytes() const {
  size_t bytes =
      begin_.MemoryBytes() + duration_.MemoryBytes() + row_.MemoryBytes() + look_.MemoryBytes();
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(Node);
  return bytes;
}

}  // namespace vramscope::query
