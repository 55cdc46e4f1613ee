#include "ui/explain/segment_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/explain/state.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

using explain::SegmentView;

constexpr float kRow = 13, kRowGap = 3;  // height of a row, and the gap between rows
constexpr float kGap = 3;                // gap between segments of one row
constexpr float kTitle = 20;
constexpr float kMinSegment = 3;
constexpr uint64_t kFinest = uint64_t{1} << 16;  // bytes per row
constexpr int kSteps = 16;                       // steps of the search for the scale
constexpr double kMostRows = 1 << 20;            // at the finest scale, this many rows show 64 GiB
constexpr double kCoarsest = 0x1p63;             // bytes per row

auto PoolOf(const SegmentView& s) {
  return std::tuple(s.device, s.pool == trace::Pool::kSmall, s.mempool, s.stream);
}

// Returns a double, because the sum of sizes in a damaged file may exceed 64 bits.
double SpanOf(const SegmentView& s) {
  double bytes = 0;
  for (const SegmentView::Piece& p : s.pieces) bytes += static_cast<double>(p.bytes);
  return std::max(bytes, 1.0);
}

}  // namespace

SegmentMap::SegmentMap(std::vector<SegmentView> segments, float width, float height,
                       uint64_t bytes_per_row, std::vector<explain::PoolOwner> owners)
    : segments_(std::move(segments)), owners_(std::move(owners)) {
  // The large pool comes first. Within a pool, the largest segments come first.
  std::stable_sort(segments_.begin(), segments_.end(), [](const auto& a, const auto& b) {
    if (PoolOf(a) != PoolOf(b)) return PoolOf(a) < PoolOf(b);
    return SpanOf(a) > SpanOf(b);
  });
  if (segments_.empty() || width < 8) return;
  double total = 0;
  for (const SegmentView& s : segments_) total += SpanOf(s);
  // For a very large total, chooses a coarser scale, so that there are at most kMostRows rows.
  const double finest = std::clamp(total / kMostRows, static_cast<double>(kFinest), kCoarsest);
  if (bytes_per_row > 0) {
    bytes_per_row_ = std::max(bytes_per_row, static_cast<uint64_t>(finest));
    Place(width, true);
    return;
  }
  // Search for the finest scale (bytes per row) at which all segments fit into the height.
  double low = std::log2(finest);
  double high = std::log2(std::min(std::max(total * 2, finest * 4), kCoarsest));
  for (int i = 0; i < kSteps && high - low > 0.01; ++i) {
    const double middle = (low + high) / 2;
    bytes_per_row_ = static_cast<uint64_t>(std::exp2(middle));
    Place(width, false);
    (height_ <= height ? high : low) = middle;
  }
  bytes_per_row_ = static_cast<uint64_t>(std::exp2(high));
  Place(width, true);
}

std::string SegmentMap::TitleOf(std::span<const SegmentView> group) const {
  const SegmentView& s = group.front();
  explain::Fragmentation::PoolUse pool;
  pool.device = s.device;
  pool.pool = s.pool;
  pool.stream = s.stream;
  pool.mempool = s.mempool;
  for (const explain::PoolOwner& owner : owners_)
    if (owner.mempool == s.mempool && owner.device == s.device) pool.owner = owner.name;
  if (s.mempool != 0 && pool.owner.empty()) pool.owner = i18n::Text("private pool");
  uint64_t bytes = 0, free = 0;
  for (const SegmentView& segment : group) bytes += segment.bytes, free += segment.free_bytes();
  std::string text = explain::PoolName(pool);
  if (s.device != 0) text += i18n::Format(" · device {}", s.device);
  text += i18n::Format(" · {} segment{} · {}", group.size(), group.size() == 1 ? "" : "s",
                       timeline::FormatBytes(bytes, true));
  if (free > 0) text += i18n::Format(", {} free", timeline::FormatBytes(free, true));
  return text;
}

// Places all segments in rows. If `draw` is false, only computes the height.
void SegmentMap::Place(float width, bool draw) {
  pieces_.clear();
  outlines_.clear();
  titles_.clear();
  const double per_byte = width / static_cast<double>(bytes_per_row_);
  float y = 0, x = 0;
  bool open = false;  // the current row has at least one segment
  const auto next_row = [&] {
    if (open) y += kRow + kRowGap;
    x = 0;
    open = false;
  };
  for (uint32_t s = 0; s < segments_.size(); ++s) {
    const SegmentView& segment = segments_[s];
    if (s == 0 || PoolOf(segments_[s - 1]) != PoolOf(segment)) {
      next_row();
      if (s > 0) y += 4;
      size_t end = s;
      while (end < segments_.size() && PoolOf(segments_[end]) == PoolOf(segment)) ++end;
      if (draw)
        titles_.push_back(
            {{0, y, width, kTitle}, TitleOf(std::span(segments_).subspan(s, end - s))});
      y += kTitle;
    }
    const double natural = SpanOf(segment) * per_byte;
    const double scale = natural < kMinSegment ? kMinSegment / natural : 1;
    const double whole = natural * scale;
    if (open && x + whole > width + 0.5) next_row();
    open = true;
    double at = 0;  // distance from the segment's begin in pixels
    uint32_t piece = 0;
    double piece_from = 0,
           piece_to = static_cast<double>(segment.pieces.empty() ? 0 : segment.pieces[0].bytes) *
                      per_byte * scale;
    while (at < whole - 1e-6) {
      const float from = x;
      const double room = std::max(static_cast<double>(width - x), 1.0);
      const double end = std::min(whole, at + room);
      if (draw)
        outlines_.push_back(
            {{from, y, static_cast<float>(end - at), kRow}, s, at <= 0, end >= whole - 1e-6});
      while (draw && piece < segment.pieces.size()) {
        const double a = std::max(piece_from, at), b = std::min(piece_to, end);
        if (b > a)
          pieces_.push_back(
              {{from + static_cast<float>(a - at), y, static_cast<float>(b - a), kRow}, s, piece});
        if (piece_to > end) break;
        if (++piece == segment.pieces.size()) break;
        piece_from = piece_to;
        piece_to += static_cast<double>(segment.pieces[piece].bytes) * per_byte * scale;
      }
      x = from + static_cast<float>(end - at) + kGap;
      at = end;
      if (at < whole - 1e-6) next_row(), open = true;
    }
    if (x >= width - kMinSegment) next_row();
  }
  next_row();
  height_ = y;
}

std::optional<SegmentMap::Hit> SegmentMap::At(double x, double y) const {
  auto row = std::partition_point(pieces_.begin(), pieces_.end(),
                                  [&](const Piece& p) { return p.rect.bottom() <= y; });
  std::optional<Hit> nearest;
  double best = 2;  // tolerance in pixels, so that thin blocks can be hit
  for (; row != pieces_.end() && row->rect.y <= y; ++row) {
    if (row->rect.Contains(x, y)) return Hit{row->segment, row->piece};
    const double away = x < row->rect.x ? row->rect.x - x : x - row->rect.right();
    if (away < best) best = away, nearest = Hit{row->segment, row->piece};
  }
  return nearest;
}

std::vector<SegmentMap::Rect> SegmentMap::RectsOf(trace::AllocationId allocation) const {
  std::vector<Rect> out;
  for (const Piece& p : pieces_)
    if (segments_[p.segment].pieces[p.piece].allocation == allocation) out.push_back(p.rect);
  return out;
}

}  // namespace vramscope::ui
