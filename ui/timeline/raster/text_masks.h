// Makes masks of texts. Qt draws each text only once into a mask, which is then filled like any
// other shape. Most texts stay the same from frame to frame.
//
//   masks.Begin(scale);
//   TextMasks::Placed p = masks.Place(utf8, text);   // valid until the next Begin()
//   if (p.mask) FillMask(target, clip, *p.mask, p.x, p.y, text.argb);
//
// For use by one thread. Any number of threads may read the masks.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ui/timeline/model/draw_list.h"
#include "ui/timeline/raster/fonts.h"
#include "ui/timeline/raster/shape_fill.h"

namespace vramscope::ui::timeline {

class TextMasks {
 public:
  struct Placed {
    const Mask* mask = nullptr;  // null: nothing of the text is visible
    int x = 0, y = 0;            // position in device pixels
  };

  explicit TextMasks(const QtTextMeasure* measure) : measure_(measure) {}
  void Begin(double scale);
  Placed Place(std::string_view utf8, const TextPrim& text);

 private:
  Mask Draw(std::string_view utf8, Font font) const;

  const QtTextMeasure* measure_;
  double scale_ = 0;
  size_t bytes_ = 0;  // total size of all masks
  std::array<std::unordered_map<std::string, Mask, TextHash, std::equal_to<>>, kFontCount> masks_;
};

}  // namespace vramscope::ui::timeline
