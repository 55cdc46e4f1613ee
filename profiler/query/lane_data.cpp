#include "profiler/query/lane_data.h"

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace vramscope::query {
namespace {

constexpr double kAll = (1 << 24) - 1;  // Node::covered of a fully covered span

float RoundedUp(double value) {
  const auto nearest = static_cast<float>(value);
  return nearest < value ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                         : nearest;
}

struct Sums {
  int64_t begin = 0, end = 0;  // `end` is the highest end of the pieces
  uint64_t longest_ns = 0, covered = 0;
  uint32_t longest = 0;
  uint8_t style = 0;

  void Add(const Sums& later) {
    end = std::max(end, later.end);
    covered += later.covered;
    if (later.longest_ns <= longest_ns) return;
    longest_ns = later.longest_ns;
    longest = later.longest;
    style = later.style;
  }
};

}  // namespace

void LaneData::Build() {
  std::vector<Sums> sums;
  sums.reserve((row_.size() + kFan - 1) / kFan);
  constexpr size_t kPieces = 512;
  static_assert(kPieces % kFan == 0);
  std::array<int64_t, kPieces> begin;
  std::array<uint64_t, kPieces> duration;
  std::array<uint32_t, kPieces> row;
  std::array<uint8_t, kPieces> style;
  for (size_t first = 0; first < row_.size(); first += kPieces) {
    const size_t n = std::min(kPieces, row_.size() - first);
    begin_.Read(first, std::span(begin).first(n));
    duration_.Read(first, std::span(duration).first(n));
    row_.Read(first, std::span(row).first(n));
    style_.Read(first, std::span(style).first(n));
    for (size_t i = 0; i < n; ++i) {
      const Sums one{begin[i], EndOf(begin[i], duration[i]), duration[i], duration[i], row[i],
                     style[i]};
      i % kFan == 0 ? sums.push_back(one) : sums.back().Add(one);
    }
  }
  while (true) {
    std::vector<Node>& level = levels_.emplace_back();
    level.reserve(sums.size());
    for (const Sums& s : sums) {
      const auto span = static_cast<double>(Duration(s.begin, s.end));
      const double covered = span > 0 ? std::min(static_cast<double>(s.covered) / span, 1.0) : 0;
      level.push_back({.begin = s.begin,
                       .span = RoundedUp(span),
                       .longest_ns = RoundedUp(static_cast<double>(s.longest_ns)),
                       .longest = s.longest,
                       .style = s.style,
                       .covered = static_cast<uint32_t>(covered * kAll)});
    }
    if (sums.size() <= 1) return;
    size_t up = 0;
    for (size_t i = 0; i < sums.size(); ++i) {
      if (i % kFan == 0) {
        sums[up++] = sums[i];
      } else {
        sums[up - 1].Add(sums[i]);
      }
    }
    sums.resize(up);
  }
}

// Fills columns of a grid. Pieces are visited in order of begin, so columns are filled from left to
// right.
class LaneData::Walk {
 public:
  struct Window {
    int64_t begin, end;
    // `before`: the first column also counts slices that begin before the window. `behind`: the
    // last column also counts slices that begin after the window.
    bool before = false, behind = false;
    // Only rectangles that begin at or after rects_from and end at or before rects_to are added.
    int64_t rects_from = std::numeric_limits<int64_t>::min();
    int64_t rects_to = std::numeric_limits<int64_t>::max();
  };

  // `columns` has one element per column of `span`.
  Walk(const LaneData& lane, const TimeSpan& span, double min_rect_columns, const Window& window,
       LaneColumn* columns, std::vector<LaneRect>* rects)
      : lane_(lane),
        window_(window),
        span_(span),
        last_(span.grid().columns),
        per_ns_(1 / span.width()),
        min_rect_ns_(min_rect_columns * span.width()),
        sums_(static_cast<size_t>(last_)),
        rects_(rects) {
    Visit();
    for (const Sum& sum : sums_)
      *columns++ = {sum.count, sum.longest, static_cast<uint8_t>(sum.style),
                    static_cast<float>(std::min(1.0, sum.covered * per_ns_))};
  }

 private:
  // Visits nodes from the top. A node that is too coarse is replaced by its children.
  void Visit() {
    const size_t top = lane_.levels_.size() - 1;
    const int64_t window_begin = window_.begin, window_end = window_.end;
    const double width = span_.width(), min_rect_ns = min_rect_ns_;
    size_t level = top;
    const Node* nodes = lane_.levels_[top].data();
    size_t size = lane_.levels_[top].size();
    for (size_t i = 0; i < size;) {
      const Node& n = nodes[i];
      if (n.begin >= window_end) return;
      if (!EndsBefore(n, window_begin)) {
        if (n.longest_ns < min_rect_ns && n.span <= width) {
          Add(n.begin, n.longest_ns, n.span * (n.covered / kAll), lane_.PiecesOf(level, i),
              n.longest, n.style);
        } else if (level > 0) {
          nodes = lane_.levels_[--level].data();
          size = lane_.levels_[level].size();
          i *= kFan;
          continue;
        } else {
          Pieces(i * kFan, std::min((i + 1) * kFan, lane_.row_.size()));
        }
      }
      // Moves to the next node or, after the last child of a node, to the node after the parent.
      for (++i; level < top && (i % kFan == 0 || i == size);) {
        i = (i + kFan - 1) / kFan;
        nodes = lane_.levels_[++level].data();
        size = lane_.levels_[level].size();
      }
    }
  }

  void Pieces(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const int64_t begin = lane_.begin_[i];
      const uint64_t duration = lane_.duration_[i];
      if (begin >= window_.end || EndOf(begin, duration) < window_.begin) continue;
      const auto ns = static_cast<double>(duration);
      if (ns >= min_rect_ns_) {
        if (begin >= window_.rects_from && EndOf(begin, duration) <= window_.rects_to)
          rects_->push_back(lane_.Piece(i));
      } else {
        Add(begin, ns, ns, 1, lane_.row_[i], lane_.style_[i]);
      }
    }
  }

  // Adds a summary to the column of its begin. Has no branches for "is in the next column" and "is
  // the longest so far": they would be unpredictable, and a misprediction costs more than the whole
  // function.
  void Add(int64_t begin, double longest_ns, double covered, uint32_t count, uint32_t longest,
           uint32_t style) {
    const double position = span_.Position(begin);
    int at = 0;
    if (position >= last_) {
      if (!window_.behind) return;
      at = last_ - 1;
    } else if (position >= 0) {
      at = static_cast<int>(position);
    } else if (!window_.before) {
      return;
    }
    Sum& sum = sums_[static_cast<size_t>(at)];
    sum.count += count;
    sum.covered += covered;
    const bool longer = longest_ns > sum.longest_ns;
    sum.longest_ns = std::max(sum.longest_ns, longest_ns);
    const uint32_t all = -static_cast<uint32_t>(longer);
    sum.longest ^= (sum.longest ^ longest) & all;
    sum.style ^= (sum.style ^ style) & all;
  }

  // The summary of one column.
  struct Sum {
    double covered = 0, longest_ns = -1;
    uint32_t count = 0, longest = 0, style = 0;
  };
  const LaneData& lane_;
  const Window window_;
  const TimeSpan span_;
  const int last_;
  const double per_ns_, min_rect_ns_;
  std::vector<Sum> sums_;
  std::vector<LaneRect>* const rects_;
};

LaneView LaneData::Query(int64_t begin_ns, int64_t end_ns, int columns,
                         double min_rect_columns) const {
  const TimeSpan span(begin_ns, end_ns, columns);
  LaneView view{.grid = span.grid(), .min_rect_columns = min_rect_columns};
  view.columns.resize(static_cast<size_t>(columns));
  Walk(*this, span, min_rect_columns,
       {.begin = begin_ns, .end = end_ns, .before = true, .behind = true}, view.columns.data(),
       &view.rects);
  return view;
}

void LaneData::Ask(const TimeGrid& grid, double min_rect_columns, LaneView* view) const {
  const TimeGrid before = view->grid;
  const auto n = static_cast<size_t>(grid.columns);
  // Fills columns [from, to) of the grid. The first column also counts slices that begin earlier.
  const auto ask = [&](int64_t from, int64_t to, int64_t rects_from, int64_t rects_to,
                       std::vector<LaneRect>* rects) {
    const TimeSpan span(TimeGrid{grid.origin_ns, grid.width_ns, from, static_cast<int>(to - from)});
    Walk(*this, span, min_rect_columns,
         {.begin = span.Edge(0),
          .end = span.Edge(static_cast<int>(to - from)) + 1,
          .before = from == grid.first,
          .rects_from = rects_from,
          .rects_to = rects_to},
         view->columns.data() + (from - grid.first), rects);
  };
  constexpr int64_t kAny = std::numeric_limits<int64_t>::min();
  constexpr int64_t kEver = std::numeric_limits<int64_t>::max();
  const bool moved = view->columns.size() == n && view->min_rect_columns == min_rect_columns &&
                     grid.MovedFrom(before);
  view->grid = grid;
  view->min_rect_columns = min_rect_columns;
  if (!moved) {
    view->columns.resize(n);
    view->rects.clear();
    return ask(grid.first, grid.last(), kAny, kEver, &view->rects);
  }
  const int64_t by = grid.first - before.first;
  if (by == 0) return;
  MoveColumns(&view->columns, by);
  const TimeSpan was(before), is(grid);
  // The time range of the previous query.
  const int64_t begin = was.Edge(0), end = was.Edge(before.columns) + 1;
  if (by > 0) {
    // The first column has changed: it also counts the slices that begin before the view.
    std::vector<LaneRect> none;
    ask(grid.first, grid.first + 1, kAny, begin - 1, &none);
    std::erase_if(view->rects, [now = is.Edge(0)](const LaneRect& r) { return r.end_ns < now; });
    ask(before.last(), grid.last(), end, kEver, &view->rects);
  } else {
    const int64_t now = is.Edge(grid.columns) + 1;
    std::erase_if(view->rects, [now](const LaneRect& r) { return r.begin_ns >= now; });
    std::vector<LaneRect> sooner;
    ask(grid.first, before.first + 1, kAny, begin - 1, &sooner);
    const auto middle = static_cast<std::ptrdiff_t>(sooner.size());
    view->rects.insert(view->rects.begin(), sooner.begin(), sooner.end());
    std::inplace_merge(view->rects.begin(), view->rects.begin() + middle, view->rects.end(),
                       [](const LaneRect& a, const LaneRect& b) { return a.row < b.row; });
  }
}

template <class Take>
void LaneData::VisitWide(size_t level, size_t first, size_t last, int64_t begin_ns, int64_t end_ns,
                         uint64_t least_ns, Take take) const {
  for (size_t i = first; i < last; ++i) {
    const Node& n = levels_[level][i];
    if (n.begin >= end_ns) return;
    if (n.longest_ns < static_cast<float>(least_ns) || EndsBefore(n, begin_ns)) continue;
    const size_t below = i * kFan;
    if (level > 0) {
      VisitWide(level - 1, below, std::min(below + kFan, levels_[level - 1].size()), begin_ns,
                end_ns, least_ns, take);
      continue;
    }
    for (size_t piece = below; piece < std::min(below + kFan, row_.size()); ++piece) {
      const uint64_t duration = duration_[piece];
      if (duration < least_ns) continue;
      const int64_t begin = begin_[piece];
      if (EndOf(begin, duration) >= begin_ns && begin < end_ns) take(Piece(piece));
    }
  }
}

std::vector<LaneRect> LaneData::Wide(int64_t begin_ns, int64_t end_ns, uint64_t least_ns) const {
  std::vector<LaneRect> rects;
  VisitWide(levels_.size() - 1, 0, levels_.back().size(), begin_ns, end_ns, least_ns,
            [&rects](const LaneRect& r) { rects.push_back(r); });
  return rects;
}

std::optional<uint32_t> LaneData::At(int64_t time_ns) const {
  const auto after = std::upper_bound(begin_.begin(), begin_.end(), time_ns);
  if (after == begin_.begin()) return std::nullopt;
  const auto i = static_cast<size_t>(after - begin_.begin()) - 1;
  if (time_ns >= EndOf(begin_[i], duration_[i])) return std::nullopt;
  return row_[i];
}

size_t LaneData::MemoryBytes() const {
  size_t bytes =
      begin_.MemoryBytes() + duration_.MemoryBytes() + row_.MemoryBytes() + style_.MemoryBytes();
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(Node);
  return bytes;
}

}  // namespace vramscope::query
