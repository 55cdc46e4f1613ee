#include "profiler/query/lane_index.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/query/pyramid.h"
#include "profiler/query/time_span.h"

namespace vramscope::query {
namespace {

constexpr size_t kBase = 16;  // slices of a bottom node

// Of consecutive slices of a lane.
struct Node {
  int64_t begin = 0;
  int64_t end = 0;  // highest
  uint64_t max_duration = 0;
  uint64_t covered = 0;  // sum of durations
  uint32_t longest = 0;  // row of the slice table
  uint32_t count = 0;
};

struct LaneData {
  std::vector<int64_t> begin, end;
  std::vector<uint32_t> row;
  Pyramid<Node> levels;

  void Build() {
    levels = BuildPyramid<Node>(
        row.size(), kBase, [this](size_t i) { return Single(i); }, Merge);
  }
  Node Single(size_t i) const {
    const uint64_t d = Duration(begin[i], end[i]);
    return {.begin = begin[i],
            .end = end[i],
            .max_duration = d,
            .covered = d,
            .longest = row[i],
            .count = 1};
  }
  static void Merge(Node& n, const Node& more) {
    n.end = std::max(n.end, more.end);
    if (more.max_duration > n.max_duration) {
      n.max_duration = more.max_duration;
      n.longest = more.longest;
    }
    n.covered += more.covered;
    n.count += more.count;
  }
};

class Query {
 public:
  Query(const LaneData& lane, int64_t begin, int64_t end, int columns, double min_rect_columns)
      : lane_(lane),
        begin_(begin),
        end_(end),
        span_(begin, end, columns),
        min_rect_ns_(min_rect_columns * span_.width()),
        longest_ns_(static_cast<size_t>(columns)) {
    view.columns.resize(static_cast<size_t>(columns));
  }

  void Visit(size_t level, size_t index) {
    const Node& n = lane_.levels[level][index];
    if (n.end < begin_ || n.begin >= end_) return;
    if (static_cast<double>(n.max_duration) < min_rect_ns_ &&
        static_cast<double>(Duration(n.begin, n.end)) <= span_.width()) {
      AddToColumn(n);
    } else if (level > 0) {
      Visit(level - 1, 2 * index);
      if (2 * index + 1 < lane_.levels[level - 1].size()) Visit(level - 1, 2 * index + 1);
    } else {
      const size_t last = std::min(lane_.row.size(), (index + 1) * kBase);
      for (size_t i = index * kBase; i < last; ++i) {
        if (lane_.end[i] < begin_ || lane_.begin[i] >= end_) continue;
        if (static_cast<double>(Duration(lane_.begin[i], lane_.end[i])) >= min_rect_ns_) {
          view.rects.push_back(lane_.row[i]);
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

}  // namespace

struct LaneIndex::Impl {
  std::shared_ptr<const trace::Trace> trace;
  std::vector<Lane> lanes;
  std::vector<LaneData> data;
};

LaneIndex::LaneIndex(std::shared_ptr<const trace::Trace> trace) : impl_(std::make_unique<Impl>()) {
  impl_->trace = std::move(trace);
  const trace::SliceTable& s = impl_->trace->slices;
  using Key = std::tuple<trace::SliceKind, uint32_t, uint32_t>;
  std::map<Key, uint32_t> counts;
  const auto key = [&s](uint32_t i) { return Key{s.kind[i], s.thread[i], s.depth[i]}; };
  for (uint32_t i = 0; i < s.size(); ++i) ++counts[key(i)];
  std::map<Key, LaneData*> lane_of;
  impl_->data.resize(counts.size());
  for (const auto& [k, count] : counts) {
    LaneData& data = impl_->data[impl_->lanes.size()];
    data.begin.reserve(count);
    data.end.reserve(count);
    data.row.reserve(count);
    lane_of[k] = &data;
    const auto& [kind, thread, depth] = k;
    impl_->lanes.push_back({.kind = kind, .thread = thread, .depth = depth, .slices = count});
  }
  for (uint32_t i = 0; i < s.size(); ++i) {
    LaneData& data = *lane_of[key(i)];
    data.begin.push_back(s.begin_ns[i]);
    data.end.push_back(s.end_ns[i]);
    data.row.push_back(i);
  }
  for (LaneData& data : impl_->data) data.Build();
}

LaneIndex::~LaneIndex() = default;
LaneIndex::LaneIndex(LaneIndex&&) noexcept = default;
LaneIndex& LaneIndex::operator=(LaneIndex&&) noexcept = default;

std::span<const Lane> LaneIndex::lanes() const { return impl_->lanes; }

LaneView LaneIndex::Query(uint32_t lane, int64_t begin_ns, int64_t end_ns, int columns,
                          double min_rect_columns) const {
  if (columns <= 0 || end_ns <= begin_ns || lane >= impl_->data.size()) return {};
  const LaneData& data = impl_->data[lane];
  query::Query query(data, begin_ns, end_ns, columns, min_rect_columns);
  query.Visit(data.levels.size() - 1, 0);
  return std::move(query.view);
}

std::optional<uint32_t> LaneIndex::At(uint32_t lane, int64_t time_ns) const {
  if (lane >= impl_->data.size()) return std::nullopt;
  const LaneData& d = impl_->data[lane];
  const auto after = std::upper_bound(d.begin.begin(), d.begin.end(), time_ns);
  if (after == d.begin.begin()) return std::nullopt;
  const auto i = static_cast<size_t>(after - d.begin.begin()) - 1;
  if (time_ns >= d.end[i]) return std::nullopt;
  return d.row[i];
}

size_t LaneIndex::MemoryBytes() const {
  size_t bytes = 0;
  for (const LaneData& d : impl_->data) {
    bytes += d.row.capacity() * (sizeof(uint32_t) + 2 * sizeof(int64_t));
    for (const auto& level : d.levels) bytes += level.capacity() * sizeof(Node);
  }
  return bytes;
}

}  // namespace vramscope::query
