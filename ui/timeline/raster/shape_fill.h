// Draws boxes, lines, circles and masks with smooth edges into premultiplied ARGB pixels. The
// results are like those of QPainter, but the functions work on any thread. See pixel_fill.h for
// rectangles and columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ui/timeline/model/draw_list.h"
#include "ui/timeline/raster/pixel_fill.h"

namespace vramscope::ui::timeline {

void FillBox(const PixelTarget& target, const Rect& clip, const BoxPrim& box);
void FillCircle(const PixelTarget& target, const Rect& clip, const CirclePrim& circle);
// Draws a horizontal or vertical line, with or without dashes. Otherwise draws nothing and returns
// false.
bool FillLine(const PixelTarget& target, const Rect& clip, const LinePrim& line);
// Draws a polyline that has few points and no dashes. Otherwise draws nothing and returns false.
bool FillPolyline(const PixelTarget& target, const Rect& clip, std::span<const Point> points,
                  const PolylinePrim& line);

// How much of each pixel is covered by a shape, for example by a text.
struct Mask {
  int width = 0, height = 0;
  std::vector<uint8_t> coverage;  // one byte per pixel; 255: covered completely
};
// Draws `mask` in the color `argb`, with its upper left corner at (x, y).
void FillMask(const PixelTarget& target, const Rect& clip, const Mask& mask, int x, int y,
              uint32_t argb);

}  // namespace vramscope::ui::timeline
