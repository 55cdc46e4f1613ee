// Arithmetic with premultiplied ARGB pixels. It is used only in this folder.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ui/timeline/raster/pixel_fill.h"

namespace vramscope::ui::timeline {

// Blends `over`, which is premultiplied, onto `under`. Computes two channels at a time.
inline uint32_t Over(uint32_t under, uint32_t over) {
  uint32_t inverse = 255 - (over >> 24);
  uint32_t rb = (under & 0x00ff00ff) * inverse + 0x00800080;
  uint32_t ag = ((under >> 8) & 0x00ff00ff) * inverse + 0x00800080;
  rb = ((rb + ((rb >> 8) & 0x00ff00ff)) >> 8) & 0x00ff00ff;
  ag = (ag + ((ag >> 8) & 0x00ff00ff)) & 0xff00ff00;
  return over + (rb | ag);
}

// Returns `a` for t = 0 and `b` for t = 256. Either both are opaque, or both are premultiplied.
inline uint32_t Lerp(uint32_t a, uint32_t b, uint32_t t) {
  uint32_t rb = (((a & 0x00ff00ff) * (256 - t) + (b & 0x00ff00ff) * t) >> 8) & 0x00ff00ff;
  uint32_t ag = (((a >> 8) & 0x00ff00ff) * (256 - t) + ((b >> 8) & 0x00ff00ff) * t) & 0xff00ff00;
  return rb | ag;
}

// Returns `color` multiplied by t / 256.
inline uint32_t Part(uint32_t color, uint32_t t) { return Lerp(0, color, t); }
inline uint32_t Part(uint32_t color, double share) {
  return Part(color, static_cast<uint32_t>(share * 256 + 0.5));
}

struct Bounds {
  int x0, y0, x1, y1;
};

// Returns the device pixels of `r`, limited to the rows that the target draws.
inline Bounds ToPixels(const PixelTarget& t, const Rect& r) {
  const auto edge = [&](float v, int from, int to) {
    return static_cast<int>(
        std::clamp(std::lround(v * t.scale), static_cast<long>(from), static_cast<long>(to)));
  };
  const int first = std::max(t.first_row, 0),
            last = std::max(std::min(t.last_row, t.height), first);
  return {edge(r.x, 0, t.width), edge(r.y, first, last), edge(r.right(), 0, t.width),
          edge(r.bottom(), first, last)};
}

}  // namespace vramscope::ui::timeline
