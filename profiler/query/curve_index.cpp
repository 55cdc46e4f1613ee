#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "profiler/query/level_of_detail.h"
#include "profiler/query/time_span.h"

namespace vramscope::query {
namespace {

constexpr size_t kSample = 16;  // equals the size of a bottom bucket of MaxPyramid, so that
                                // whole samples need no scan
// If columns have at least this many points, their edges are rounded to multiples of kSample.
constexpr size_t kManyPoints = 256;

std::vector<uint32_t> Changes(const analysis::MemoryCurves::Bytes& values) {
  std::vector<uint32_t> out;
  uint64_t before = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t value = values[i];
    if (i == 0 || value != before) out.push_back(static_cast<uint32_t>(i));
    before = value;
  }
  return out;
}

std::vector<uint64_t> Pick(const analysis::MemoryCurves::Bytes& values,
                           const std::vector<uint32_t>& points) {
  std::vector<uint64_t> out;
  out.reserve(points.size());
  for (uint32_t p : points) out.push_back(values[p]);
  return out;
}

// Resizes the columns of all curves and of the existing categories.
void Resize(const analysis::MemoryCurves& curves, size_t columns, CurveColumns* out) {
  out->allocated_max.resize(columns);
  out->reserved_max.resize(columns);
  out->point.resize(columns);
  for (size_t k = 0; k < out->category.size(); ++k)
    out->category[k].resize(curves.category[k].empty() ? 0 : columns);
}

// Adds the last points of the curves to the column that ends at their time. These points are often
// the peak, but belong to the next column, which may not be visible.
void TakeLast(const analysis::MemoryCurves& curves, const TimeSpan& span, CurveColumns* out) {
  if (curves.size() == 0) return;
  const int64_t end = curves.time_ns.back();
  const double position = std::round(span.Position(end));
  if (position < 1 || position > span.grid().columns) return;
  const auto column = static_cast<int>(position);
  if (span.Edge(column) != end) return;
  const auto c = static_cast<size_t>(column) - 1;
  for (size_t p = curves.size(); p-- > 0 && curves.time_ns[p] == end;) {
    out->reserved_max[c] = std::max(out->reserved_max[c], uint64_t{curves.reserved[p]});
    if (out->point[c] != CurveColumns::kNoPoint && out->allocated_max[c] >= curves.allocated[p])
      continue;
    out->point[c] = static_cast<uint32_t>(p);
    out->allocated_max[c] = curves.allocated[p];
    for (size_t k = 0; k < out->category.size(); ++k)
      if (!out->category[k].empty()) out->category[k][c] = curves.category[k][p];
  }
}

}  // namespace

size_t MaxPyramid::MemoryBytes() const {
  size_t bytes = 0;
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(Node);
  return bytes;
}

CurveIndex::CurveIndex(std::shared_ptr<const analysis::MemoryCurves> curves)
    : curves_(std::move(curves)),
      allocated_(curves_->allocated),
      reserved_point_(Changes(curves_->reserved)),
      reserved_value_(Pick(curves_->reserved, reserved_point_)),
      reserved_(reserved_value_) {
  sampled_times_.reserve(curves_->size() / kSample + 1);
  for (size_t i = 0; i < curves_->size(); i += kSample)
    sampled_times_.push_back(curves_->time_ns[i]);
}

size_t CurveIndex::FirstAtOrAfter(int64_t time_ns, size_t from) const {
  // Finds the first sample at or after the time. The result is between this
  // sample and the sample before.
  const auto samples = sampled_times_.begin() + static_cast<ptrdiff_t>(from / kSample);
  const auto s = static_cast<size_t>(std::lower_bound(samples, sampled_times_.end(), time_ns) -
                                     sampled_times_.begin());
  const size_t first = std::max(from, s == 0 ? 0 : (s - 1) * kSample);
  const size_t last = std::max(first, std::min(curves_->size(), s * kSample));
  const auto begin = curves_->time_ns.begin();
  return static_cast<size_t>(std::lower_bound(begin + static_cast<ptrdiff_t>(first),
                                              begin + static_cast<ptrdiff_t>(last), time_ns) -
                             begin);
}

size_t CurveIndex::NearlyAtOrAfter(int64_t time_ns, size_t from) const {
  const auto samples =
      sampled_times_.begin() + static_cast<ptrdiff_t>((from + kSample - 1) / kSample);
  const auto s = static_cast<size_t>(std::lower_bound(samples, sampled_times_.end(), time_ns) -
                                     sampled_times_.begin());
  return std::max(from, std::min(s * kSample, curves_->size()));
}

CurveColumns CurveIndex::Query(int64_t begin_ns, int64_t end_ns, int columns) const {
  CurveColumns out;
  if (columns <= 0 || end_ns <= begin_ns) return out;
  const TimeSpan span(begin_ns, end_ns, columns);
  const size_t first = FirstAtOrAfter(begin_ns, 0);
  const size_t last =
      static_cast<size_t>(std::upper_bound(curves_->time_ns.begin() + static_cast<ptrdiff_t>(first),
                                           curves_->time_ns.end(), end_ns) -
                          curves_->time_ns.begin());
  out.grid = span.grid();
  out.rounded = (last - first) / static_cast<size_t>(columns) >= kManyPoints;
  Resize(*curves_, static_cast<size_t>(columns), &out);
  Fill(span, 0, columns, first, last, &out);
  return out;
}

void CurveIndex::Ask(const TimeGrid& grid, CurveColumns* view) const {
  const TimeSpan span(grid);
  const int n = grid.columns;
  const auto edge = [&](int column) {
    return view->rounded ? NearlyAtOrAfter(span.Edge(column), 0)
                         : FirstAtOrAfter(span.Edge(column), 0);
  };
  const bool rounded = (FirstAtOrAfter(span.Edge(n), 0) - FirstAtOrAfter(span.Edge(0), 0)) /
                           static_cast<size_t>(n) >=
                       kManyPoints;
  const bool moved = view->point.size() == static_cast<size_t>(n) && view->rounded == rounded &&
                     grid.MovedFrom(view->grid);
  const int64_t by = grid.first - view->grid.first;
  view->grid = grid;
  view->rounded = rounded;
  if (!moved) {
    Resize(*curves_, static_cast<size_t>(n), view);
    Fill(span, 0, n, edge(0), edge(n), view);
    return TakeLast(*curves_, span, view);
  }
  if (by == 0) return;
  MoveColumns(&view->allocated_max, by);
  MoveColumns(&view->reserved_max, by);
  MoveColumns(&view->point, by);
  for (std::vector<uint64_t>& category : view->category)
    if (!category.empty()) MoveColumns(&category, by);
  const int from = by > 0 ? n - static_cast<int>(by) : 0;
  const int to = by > 0 ? n : static_cast<int>(-by);
  Fill(span, from, to, edge(from), edge(to), view);
  TakeLast(*curves_, span, view);
}

void CurveIndex::Fill(const TimeSpan& span, int from, int to, size_t next, size_t last,
                      CurveColumns* out) const {
  size_t reserved_next =
      static_cast<size_t>(std::lower_bound(reserved_point_.begin(), reserved_point_.end(), next) -
                          reserved_point_.begin());
  for (int column = from; column < to; ++column) {
    const auto c = static_cast<size_t>(column);
    const int64_t left = span.Edge(column);
    // The value before the column also counts, unless there is a point at the column's begin.
    const bool at_left = next < curves_->size() && curves_->time_ns[next] == left;
    const bool carried = next > 0 && !at_left;
    const size_t reserved_first =
        reserved_next > 0 && !(reserved_next < reserved_point_.size() && !carried &&
                               reserved_point_[reserved_next] == next)
            ? reserved_next - 1
            : reserved_next;
    size_t first = carried ? next - 1 : next;
    if (column + 1 == to) {
      next = last;
    } else {
      const int64_t right = span.Edge(column + 1);
      const size_t begin = next;
      next =
          out->rounded ? std::min(last, NearlyAtOrAfter(right, next)) : FirstAtOrAfter(right, next);
      // The value before the column is left out, because edges are rounded anyway.
      if (out->rounded && next > begin) first = begin;
    }
    while (reserved_next < reserved_point_.size() && reserved_point_[reserved_next] < next) {
      ++reserved_next;
    }
    // With more columns than nanoseconds, some columns have no length. They show the points at
    // their begin.
    const bool moment = at_left && first == next;
    const size_t through = moment ? next + 1 : next;
    const bool reserved_moment =
        moment && reserved_next < reserved_point_.size() && reserved_point_[reserved_next] == next;
    const size_t reserved_through = reserved_moment ? reserved_next + 1 : reserved_next;
    out->point[c] =
        first < through
            ? static_cast<uint32_t>(allocated_.ArgMax(curves_->allocated, first, through))
            : CurveColumns::kNoPoint;
    out->reserved_max[c] =
        reserved_first < reserved_through
            ? reserved_value_[reserved_.ArgMax(reserved_value_, reserved_first, reserved_through)]
            : 0;
  }
  // Reads one curve at a time, so that cache misses of independent loads overlap.
  const auto gather = [&](const analysis::MemoryCurves::Bytes& of, std::vector<uint64_t>& into) {
    for (auto c = static_cast<size_t>(from); c < static_cast<size_t>(to); ++c)
      into[c] = out->point[c] == CurveColumns::kNoPoint ? 0 : of[out->point[c]];
  };
  gather(curves_->allocated, out->allocated_max);
  for (size_t k = 0; k < out->category.size(); ++k)
    if (!out->category[k].empty()) gather(curves_->category[k], out->category[k]);
}

std::vector<int64_t> CurveIndex::Edges(int64_t begin_ns, int64_t end_ns, int columns) {
  std::vector<int64_t> edges;
  if (columns <= 0 || end_ns <= begin_ns) return edges;
  edges.reserve(static_cast<size_t>(columns) + 1);
  const TimeSpan span(begin_ns, end_ns, columns);
  for (int c = 0; c < columns; ++c) edges.push_back(span.Edge(c));
  edges.push_back(end_ns);
  return edges;
}

std::vector<uint64_t> CurveIndex::AllocatedBetween(std::span<const int64_t> edges) const {
  if (edges.size() < 2) return {};
  std::vector<uint64_t> out(edges.size() - 1, 0);
  size_t next = FirstAtOrAfter(edges[0], 0);
  for (size_t c = 0; c < out.size(); ++c) {
    const bool at_left = next < curves_->size() && curves_->time_ns[next] == edges[c];
    const size_t first = next > 0 && !at_left ? next - 1 : next;
    next = c + 1 == out.size()
               ? static_cast<size_t>(
                     std::upper_bound(curves_->time_ns.begin() + static_cast<ptrdiff_t>(next),
                                      curves_->time_ns.end(), edges[c + 1]) -
                     curves_->time_ns.begin())
               : FirstAtOrAfter(edges[c + 1], next);
    // An interval without length contains the point at its begin.
    const size_t last = std::max(next, at_left ? first + 1 : first);
    if (first < last)
      out[c] = curves_->allocated[allocated_.ArgMax(curves_->allocated, first, last)];
  }
  return out;
}

size_t CurveIndex::MemoryBytes() const {
  return allocated_.MemoryBytes() + reserved_.MemoryBytes() +
         sampled_times_.capacity() * sizeof(int64_t) +
         reserved_point_.capacity() * (sizeof(uint32_t) + sizeof(uint64_t));
}

}  // namespace vramscope::query
