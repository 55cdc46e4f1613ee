// Boxes, lines, circles and masks with smooth edges, straight into premultiplied ARGB pixels: what
// a painter would do, without one, on any thread. Rectangles and columns: pixel_fill.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ui/timeline/model/draw_list.h"
#include "ui/timeline/raster/pixel_fill.h"

namespace vramscope::ui::timeline {

void FillBox(const PixelTarget& target, const Rect& clip, const BoxPrim& box);
void FillCircle(const PixelTarget& target, const Rect& clip, const CirclePrim& circle);
// Across or upright, dashed or not; false: it is neither, and nothing was drawn.
bool FillLine(const PixelTarget& target, const Rect& clip, const LinePrim& line);
// Of few points and not dashed; false: nothing was drawn.
bool FillPolyline(const PixelTarget& target, const Rect& clip, std::span<const Point> points,
                  const PolylinePrim& line);

// How much of each pixel something covers: a text, say.
struct Mask {
  int width = 0, height = 0;
  std::vector<uint8_t> coverage;  // a byte a pixel, 255: all of it
};
// With its upper left corner at a pixel of the target.
void FillMask(const PixelTarget& target, const Rect& clip, const Mask& mask, int x, int y,
              uint32_t argb);

}  // namespace vramscope::ui::timeline
