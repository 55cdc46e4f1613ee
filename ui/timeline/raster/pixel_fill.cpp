#include "ui/timeline/raster/pixel_fill.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/timeline/raster/blend.h"

namespace vramscope::ui::timeline {
namespace {

constexpr int kWide = 512;  // rows of at least this many pixels are copied faster than filled

}  // namespace
uint32_t Premultiply(uint32_t argb) {
  uint32_t a = argb >> 24;
  if (a == 255) return argb;
  auto channel = [&](int shift) { return (((argb >> shift) & 255) * a + 127) / 255 << shift; };
  return a << 24 | channel(16) | channel(8) | channel(0);
}

void FillRects(const PixelTarget& target, const Rect& clip, std::span<const FillRect> rects) {
  Bounds b = ToPixels(target, clip);
  if (b.x0 >= b.x1 || b.y0 >= b.y1) return;
  auto scale = static_cast<float>(target.scale);
  for (const FillRect& r : rects) {
    // Clamp values that are far outside of the image, so that the conversion does not overflow.
    auto pixel = [&](float v) {
      return static_cast<int>(std::floor(std::clamp(v * scale, -1e8f, 1e8f) + 0.5f));
    };
    int x0 = pixel(r.x0), y0 = pixel(r.y0);
    int x1 = std::max(pixel(r.x1), x0 + 1), y1 = std::max(pixel(r.y1), y0 + 1);
    x0 = std::max(x0, b.x0);
    y0 = std::max(y0, b.y0);
    x1 = std::min(x1, b.x1);
    y1 = std::min(y1, b.y1);
    if (x0 >= x1 || y0 >= y1) continue;
    uint32_t color = Premultiply(r.argb);
    uint32_t alpha = color >> 24;
    if (alpha == 0) continue;
    uint32_t* row = target.pixels + static_cast<ptrdiff_t>(y0) * target.stride;
    if (alpha == 255) {
      // In a wide rectangle, copy the first row to the other rows.
      const uint32_t* first = row + x0;
      std::fill(row + x0, row + x1, color);
      for (int y = y0 + 1; y < y1; ++y) {
        row += target.stride;
        if (x1 - x0 < kWide) {
          std::fill(row + x0, row + x1, color);
        } else {
          std::copy(first, first + (x1 - x0), row + x0);
        }
      }
      continue;
    }
    for (int y = y0; y < y1; ++y, row += target.stride) {
      for (int x = x0; x < x1; ++x) row[x] = Over(row[x], color);
    }
  }
}

// Fills row by row, so that memory is written in order. For every column, remembers the layer that
// the current row is in.
void FillStack(const PixelTarget& target, const Rect& clip, const StackPrim& stack,
               std::span<const float> edges, std::span<const uint32_t> colors) {
  Bounds b = ToPixels(target, stack.area.Intersect(clip));
  if (b.x0 >= b.x1 || b.y0 >= b.y1 || stack.layers == 0 || stack.columns == 0) return;
  auto scale = static_cast<float>(target.scale);
  int n = b.x1 - b.x0;
  uint32_t layers = stack.layers;

  constexpr float kNever = 1e9f;
  // the edges of the drawn columns, from top to bottom, in device pixels below b.y0
  std::vector<float> edge(size_t{layers + 1} * static_cast<size_t>(n));
  float left = stack.area.x * scale;
  float per_pixel = static_cast<float>(stack.columns) / std::max(stack.area.w * scale, 1.0f);
  for (int i = 0; i < n; ++i) {
    auto column = static_cast<int64_t>((static_cast<float>(b.x0 + i) + 0.5f - left) * per_pixel);
    column = std::clamp<int64_t>(column, 0, stack.columns - 1);
    for (uint32_t l = 0; l <= layers; ++l) {
      // NaN is not an edge. Replace it by a value that no row reaches.
      const float at = edges[size_t{l} * stack.columns + column] * scale - static_cast<float>(b.y0);
      edge[size_t{layers - l} * n + i] = std::isnan(at) ? kNever : at;
    }
  }
  std::vector<uint32_t> color(layers);  // colors of the layers, the top layer first
  for (uint32_t l = 0; l < layers; ++l) color[l] = Premultiply(colors[layers - 1 - l]);

  // For each column: the number of edges already passed, the color below the last of these, and the
  // next edge.
  std::vector<uint32_t> passed(n, 0), current(n, 0);
  std::vector<float> next(edge.begin(), edge.begin() + n);
  int outside = n;  // number of columns whose stack this row misses; their pixels stay unchanged
  float nearest = *std::min_element(next.begin(), next.end());
  for (int y = b.y0; y < b.y1; ++y) {
    uint32_t* row = target.pixels + static_cast<ptrdiff_t>(y) * target.stride + b.x0;
    auto bottom = static_cast<float>(y - b.y0 + 1);
    if (nearest >= bottom && (outside == 0 || outside == n)) {  // no edge in this row
      if (outside == 0) std::copy(current.begin(), current.end(), row);
      continue;
    }
    nearest = kNever;
    for (int i = 0; i < n; ++i) {
      if (next[i] >= bottom) {
        if (current[i]) row[i] = current[i];
        nearest = std::min(nearest, next[i]);
        continue;
      }
      // One or more edges are inside this pixel, so mix the colors between them, weighted by their
      // shares of the pixel.
      uint32_t under = row[i];
      uint32_t value = current[i] ? current[i] : under;
      bool was_outside = current[i] == 0;
      uint32_t k = passed[i];
      float e = next[i];
      while (e < bottom) {
        uint32_t below = k < layers ? color[k] : under;
        float share = std::clamp(bottom - e, 0.0f, 1.0f);
        value = Lerp(value, below, static_cast<uint32_t>(share * 256));
        ++k;
        e = k <= layers ? edge[size_t{k} * n + i] : kNever;
      }
      row[i] = value;
      passed[i] = k;
      current[i] = k <= layers ? color[k - 1] : 0;
      next[i] = e;
      nearest = std::min(nearest, e);
      outside += (current[i] == 0) - was_outside;
    }
  }
}

// All rows of a strip are equal. If the existing pixels below two rows are equal too, copies the
// result of the first row.
void FillStrip(const PixelTarget& target, const Rect& clip, const StripPrim& strip,
               std::span<const uint32_t> colors) {
  const Bounds b = ToPixels(target, strip.area.Intersect(clip));
  if (b.x0 >= b.x1 || b.y0 >= b.y1 || strip.columns == 0) return;
  const auto n = static_cast<size_t>(b.x1 - b.x0);
  const int64_t width = std::max(std::lround(strip.area.w * target.scale), 1L);
  const auto left = static_cast<int64_t>(std::lround(strip.area.x * target.scale));
  std::vector<uint32_t> over(n), under(n), made(n);
  uint32_t last = 0, last_premultiplied = 0;
  for (size_t i = 0; i < n; ++i) {
    const int64_t column = (b.x0 + static_cast<int64_t>(i) - left) * strip.columns / width;
    const uint32_t color =
        colors[static_cast<size_t>(std::clamp<int64_t>(column, 0, strip.columns - 1))];
    if (color != last) {
      last = color;
      last_premultiplied = Premultiply(color);
    }
    over[i] = last_premultiplied;
  }
  for (int y = b.y0; y < b.y1; ++y) {
    uint32_t* row = target.pixels + static_cast<ptrdiff_t>(y) * target.stride + b.x0;
    if (y == b.y0 || !std::equal(under.begin(), under.end(), row)) {
      std::copy(row, row + n, under.begin());
      for (size_t i = 0; i < n; ++i) made[i] = Over(under[i], over[i]);
    }
    std::copy(made.begin(), made.end(), row);
  }
}

void FillImage(const PixelTarget& target, const Rect& clip, const ImagePrim& image,
               std::span<const uint32_t> pixels) {
  Bounds b = ToPixels(target, image.area.Intersect(clip));
  const auto pixel = [&](float v) { return static_cast<int>(std::lround(v * target.scale)); };
  const Bounds whole{pixel(image.area.x), pixel(image.area.y), pixel(image.area.right()),
                     pixel(image.area.bottom())};
  int w = whole.x1 - whole.x0, h = whole.y1 - whole.y0;
  if (w <= 0 || h <= 0) return;
  std::vector<uint32_t> column(std::max(b.x1 - b.x0, 0));
  for (int x = b.x0; x < b.x1; ++x) {
    column[x - b.x0] = static_cast<uint32_t>(int64_t{x - whole.x0} * image.width / w);
  }
  for (int y = b.y0; y < b.y1; ++y) {
    int64_t sy = int64_t{y - whole.y0} * image.height / h;
    const uint32_t* source = pixels.data() + sy * image.width;
    uint32_t* row = target.pixels + static_cast<ptrdiff_t>(y) * target.stride;
    for (int x = b.x0; x < b.x1; ++x) {
      uint32_t p = source[column[x - b.x0]];
      if (p >> 24 == 255) {
        row[x] = p;
      } else if (p) {
        row[x] = Over(row[x], p);
      }
    }
  }
}

void CopyPixels(const uint32_t* from, const PixelTarget& target, const Rect& area) {
  const Bounds b = ToPixels(target, area);
  if (b.x0 >= b.x1) return;
  for (int y = b.y0; y < b.y1; ++y) {
    const ptrdiff_t row = static_cast<ptrdiff_t>(y) * target.stride;
    std::copy(from + row + b.x0, from + row + b.x1, target.pixels + row + b.x0);
  }
}

void MovePixels(const uint32_t* from, const PixelTarget& target, const Rect& area, double begin,
                double end, uint32_t outside) {
  const Bounds b = ToPixels(target, area);
  const int n = b.x1 - b.x0;
  if (n <= 0 || b.y0 >= b.y1) return;
  // Column x in [first, last) is copied from column source[x].
  std::vector<int> source(static_cast<size_t>(n));
  int first = n, last = 0;
  for (int x = 0; x < n; ++x) {
    const double at = std::floor((begin + (end - begin) * (x + 0.5) / n) * n);
    if (at < 0 || at >= n) continue;
    source[static_cast<size_t>(x)] = static_cast<int>(at);
    first = std::min(first, x);
    last = x + 1;
  }
  if (first >= last) first = last = n;
  const bool shifted = first < last && source[static_cast<size_t>(last) - 1] - source[first] ==
                                           last - 1 - first;  // shifted, not stretched
  for (int y = b.y0; y < b.y1; ++y) {
    const ptrdiff_t row = static_cast<ptrdiff_t>(y) * target.stride + b.x0;
    uint32_t* to = target.pixels + row;
    const uint32_t* of = from + row;
    std::fill(to, to + first, outside);
    if (shifted) {
      std::copy(of + source[first], of + source[first] + (last - first), to + first);
    } else {
      for (int x = first; x < last; ++x) to[x] = of[source[x]];
    }
    std::fill(to + last, to + n, outside);
  }
}

}  // namespace vramscope::ui::timeline
