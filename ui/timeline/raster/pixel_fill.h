// Fills rectangles, stacks, strips and images directly into premultiplied ARGB pixels.
#pragma once

#include <cstdint>
#include <span>

#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

struct PixelTarget {
  uint32_t* pixels;
  int width, height;
  int stride;    // length of a row in pixels
  double scale;  // device pixels per logical pixel
  // Only these rows are drawn, so that several threads can draw different parts of one image.
  int first_row = 0, last_row = INT32_MAX;
};

uint32_t Premultiply(uint32_t argb);
void FillRects(const PixelTarget& target, const Rect& clip, std::span<const FillRect> rects);
void FillStack(const PixelTarget& target, const Rect& clip, const StackPrim& stack,
               std::span<const float> edges, std::span<const uint32_t> colors);
void FillStrip(const PixelTarget& target, const Rect& clip, const StripPrim& strip,
               std::span<const uint32_t> colors);
void FillImage(const PixelTarget& target, const Rect& clip, const ImagePrim& image,
               std::span<const uint32_t> pixels);
// Copies `area` from the image `from` to the target. The image has the target's size.
void CopyPixels(const uint32_t* from, const PixelTarget& target, const Rect& area);
// Fills `area` with a part of the same area of the image `from`, which has the target's size.
// `begin` and `end` of this part are fractions of the area's width (0 and 1: the whole area).
// Pixels that would come from outside of the area get the color `outside`.
void MovePixels(const uint32_t* from, const PixelTarget& target, const Rect& area, double begin,
                double end, uint32_t outside);

}  // namespace vramscope::ui::timeline
