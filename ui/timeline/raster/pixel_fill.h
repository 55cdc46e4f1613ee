// Filling rectangles, stacks, strips and pictures straight into premultiplied ARGB pixels.
#pragma once

#include <cstdint>
#include <span>

#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

struct PixelTarget {
  uint32_t* pixels;
  int width, height;
  int stride;    // in pixels
  double scale;  // device pixels per logical pixel
  // Only these rows are drawn: several threads share a picture.
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
// Copies `area` of a picture like the target's.
void CopyPixels(const uint32_t* from, const PixelTarget& target, const Rect& area);
// Fills `area` with what of `from` (a picture like the target's) lies from `begin` to `end` of its
// width: 0, 1 is the area itself. `outside`: where the picture has nothing.
void MovePixels(const uint32_t* from, const PixelTarget& target, const Rect& area, double begin,
                double end, uint32_t outside);

}  // namespace vramscope::ui::timeline
