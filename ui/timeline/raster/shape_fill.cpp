#include "ui/timeline/raster/shape_fill.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "ui/timeline/raster/blend.h"

namespace vramscope::ui::timeline {
namespace {

// Returns the share of the pixel [at, at + 1) that lies between the edges `from` and `to`.
double Overlap(double at, double from, double to) {
  return std::clamp(std::min(at + 1, to) - std::max(at, from), 0.0, 1.0);
}

// Moves an edge to a pixel boundary if it is within 1 % of a pixel.
double Snapped(double edge) {
  const double whole = std::round(edge);
  return std::abs(edge - whole) < 0.01 ? whole : edge;
}

// A rounded rectangle in device pixels.
struct Round {
  double x0, y0, x1, y1, radius;

  static Round Of(const Rect& r, double radius, double inset, double scale) {
    Round out{Snapped((r.x + inset) * scale), Snapped((r.y + inset) * scale),
              Snapped((r.right() - inset) * scale), Snapped((r.bottom() - inset) * scale), 0};
    out.radius = std::clamp(radius * scale, 0.0,
                            std::max(std::min(out.x1 - out.x0, out.y1 - out.y0) / 2, 0.0));
    return out;
  }
  double Covers(int x, int y) const {
    if (x1 <= x0 || y1 <= y0) return 0;
    const double cx = x + 0.5, cy = y + 0.5;
    const double dx = std::max({x0 + radius - cx, cx - (x1 - radius), 0.0});
    const double dy = std::max({y0 + radius - cy, cy - (y1 - radius), 0.0});
    if (dx > 0 && dy > 0 && radius > 0)
      return std::clamp(radius - std::sqrt(dx * dx + dy * dy) + 0.5, 0.0, 1.0);
    return Overlap(x, x0, x1) * Overlap(y, y0, y1);
  }
};

// Calls `covers(x, y)` only for pixels near the left and right edges. Between these, all pixels of
// a row have the same value.
template <class Covers>
void Paint(const PixelTarget& t, const Rect& clip, const Round& outer, double rim, uint32_t argb,
           Covers covers) {
  const uint32_t color = Premultiply(argb);
  if (color >> 24 == 0) return;
  const Bounds b = ToPixels(t, clip);
  const auto within = [](double v, int low, int high) {
    return static_cast<int>(std::clamp(v, double(low), double(high)));
  };
  const int left = within(std::floor(outer.x0), b.x0, b.x1);
  const int right = within(std::ceil(outer.x1), b.x0, b.x1);
  const int from = within(std::ceil(outer.x0 + rim), left, right);
  const int to = within(std::floor(outer.x1 - rim), from, right);
  const int top = within(std::floor(outer.y0), b.y0, b.y1);
  const int bottom = within(std::ceil(outer.y1), b.y0, b.y1);
  // All rows without a rounded corner have the same pixels at their edges. Compute these pixels
  // once.
  const int straight_from = within(std::ceil(outer.y0 + rim), top, bottom);
  const int straight_to = within(std::floor(outer.y1 - rim), straight_from, bottom);
  std::array<uint32_t, 32> edges;
  const int edge_pixels = from - left + right - to;
  const bool keep = edge_pixels <= static_cast<int>(edges.size());
  for (int y = top; y < bottom; ++y) {
    uint32_t* row = t.pixels + static_cast<ptrdiff_t>(y) * t.stride;
    const bool straight = keep && y >= straight_from && y < straight_to;
    const bool known = straight && y > straight_from;
    uint32_t* edge = edges.data();
    const auto blend = [&](int x) {
      const uint32_t over = known ? *edge : Part(color, covers(x, y));
      if (straight) *edge++ = over;
      if (over != 0) row[x] = Over(row[x], over);
    };
    for (int x = left; x < from; ++x) blend(x);
    if (from < to) {
      const uint32_t over = Part(color, covers(from, y));
      if (over >> 24 == 255) {
        std::fill(row + from, row + to, over);
      } else if (over != 0) {
        for (int x = from; x < to; ++x) row[x] = Over(row[x], over);
      }
    }
    for (int x = to; x < right; ++x) blend(x);
  }
}

void FillRound(const PixelTarget& t, const Rect& clip, const Round& r, uint32_t argb) {
  Paint(t, clip, r, r.radius + 1, argb, [&](int x, int y) { return r.Covers(x, y); });
}

}  // namespace

void FillBox(const PixelTarget& t, const Rect& clip, const BoxPrim& box) {
  const double width = box.stroke >> 24 ? box.stroke_width : 0;
  FillRound(t, clip, Round::Of(box.rect, box.radius, width / 2, t.scale), box.fill);
  if (width <= 0) return;
  // The stroke is inside of the box's edge.
  const double radius = box.radius > 0 ? box.radius : 0;
  const Round outer = Round::Of(box.rect, radius > 0 ? radius + width / 2 : 0, 0, t.scale);
  const Round inner = Round::Of(box.rect, std::max(radius - width / 2, 0.0), width, t.scale);
  Paint(t, clip, outer, outer.radius + width * t.scale + 1, box.stroke,
        [&](int x, int y) { return std::max(outer.Covers(x, y) - inner.Covers(x, y), 0.0); });
}

void FillCircle(const PixelTarget& t, const Rect& clip, const CirclePrim& c) {
  const double cx = c.x * t.scale, cy = c.y * t.scale, radius = c.radius * t.scale;
  const double width = c.stroke >> 24 ? c.stroke_width * t.scale : 0;
  const double reach = radius + width / 2 + 1;
  const Round all{cx - reach, cy - reach, cx + reach, cy + reach, 0};
  const auto away = [&](int x, int y) { return std::hypot(x + 0.5 - cx, y + 0.5 - cy); };
  Paint(t, clip, all, reach + 1, c.fill,
        [&](int x, int y) { return std::clamp(radius - away(x, y) + 0.5, 0.0, 1.0); });
  if (width <= 0) return;
  Paint(t, clip, all, reach + 1, c.stroke, [&](int x, int y) {
    return std::clamp(width / 2 - std::abs(away(x, y) - radius) + 0.5, 0.0, std::min(width, 1.0));
  });
}

bool FillLine(const PixelTarget& t, const Rect& clip, const LinePrim& l) {
  const bool upright = l.x0 == l.x1;
  if (!upright && l.y0 != l.y1) return false;
  const float begin = upright ? l.y0 : l.x0, end = upright ? l.y1 : l.x1;
  const float length = std::abs(end - begin), way = end < begin ? -1.0f : 1.0f;
  const auto piece = [&](float from, float to) {
    const float a = begin + way * from, b = begin + way * to;
    const float low = std::min(a, b), half = l.width / 2;
    const Rect r = upright ? Rect{l.x0 - half, low, l.width, to - from}
                           : Rect{low, l.y0 - half, to - from, l.width};
    FillRound(t, clip, Round::Of(r, 0, 0, t.scale), l.argb);
  };
  if (l.dash.on <= 0 || l.dash.off <= 0) {
    piece(0, length);
    return true;
  }
  // Draw only the dashes within the clip, so that a very long line takes little time.
  const float period = l.dash.on + l.dash.off;
  const float near = upright ? (way > 0 ? clip.y - begin : begin - clip.bottom())
                             : (way > 0 ? clip.x - begin : begin - clip.right());
  const float last = std::min(length, near + (upright ? clip.h : clip.w) + period);
  for (auto i = static_cast<int64_t>(std::max(near / period - 1, 0.0f));; ++i) {
    const float at = static_cast<float>(i) * period;
    if (at >= last) return true;
    piece(at, std::min(at + l.dash.on, length));
  }
}

bool FillPolyline(const PixelTarget& t, const Rect& clip, std::span<const Point> points,
                  const PolylinePrim& l) {
  constexpr size_t kFew = 8;
  if (points.size() < 2 || points.size() > kFew || l.dash.on > 0) return false;
  const double half = l.width * t.scale / 2, reach = half + 1;
  Round all{1e9, 1e9, -1e9, -1e9, 0};
  for (const Point& p : points) {
    all.x0 = std::min(all.x0, p.x * t.scale - reach);
    all.y0 = std::min(all.y0, p.y * t.scale - reach);
    all.x1 = std::max(all.x1, p.x * t.scale + reach);
    all.y1 = std::max(all.y1, p.y * t.scale + reach);
  }
  Paint(t, clip, all, all.x1 - all.x0, l.argb, [&](int x, int y) {
    double nearest = 1e9;
    for (size_t i = 1; i < points.size(); ++i) {
      const double ax = points[i - 1].x * t.scale, ay = points[i - 1].y * t.scale;
      const double dx = points[i].x * t.scale - ax, dy = points[i].y * t.scale - ay;
      const double length = std::max(dx * dx + dy * dy, 1e-9);
      const double along =
          std::clamp(((x + 0.5 - ax) * dx + (y + 0.5 - ay) * dy) / length, 0.0, 1.0);
      nearest = std::min(nearest, std::hypot(x + 0.5 - ax - along * dx, y + 0.5 - ay - along * dy));
    }
    return std::clamp(half - nearest + 0.5, 0.0, 1.0);
  });
  return true;
}

void FillMask(const PixelTarget& t, const Rect& clip, const Mask& mask, int x, int y,
              uint32_t argb) {
  const Bounds b = ToPixels(t, clip);
  const int x0 = std::max(x, b.x0), x1 = std::min(x + mask.width, b.x1);
  const int y0 = std::max(y, b.y0), y1 = std::min(y + mask.height, b.y1);
  if (x0 >= x1) return;
  const uint32_t color = Premultiply(argb);
  const bool opaque = color >> 24 == 255;
  for (int at = y0; at < y1; ++at) {
    const uint8_t* of = mask.coverage.data() + static_cast<size_t>(at - y) * mask.width + (x0 - x);
    uint32_t* to = t.pixels + static_cast<ptrdiff_t>(at) * t.stride + x0;
    const int n = x1 - x0;
    for (int i = 0; i < n;) {
      const int end = std::min(i + 8, n);
      // Most pixels of a text are empty, so skip eight empty pixels at once.
      uint64_t eight = 1;
      if (end - i == 8) std::memcpy(&eight, of + i, sizeof eight);
      if (eight == 0) i = end;
      for (; i < end; ++i) {
        if (of[i] == 0) continue;
        const auto part = static_cast<uint32_t>(of[i] + (of[i] >> 7));
        to[i] = opaque ? Lerp(to[i], color, part) : Over(to[i], Part(color, part));
      }
    }
  }
}

}  // namespace vramscope::ui::timeline
