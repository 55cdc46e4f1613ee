// Writes a DrawList as an SVG page. It contains the same shapes and texts that the renderers draw.
//
//   const std::string page = SvgOf(list, renderer.measure(), {.width = 1680, .height = 1050, ...});
//
// The page is self-contained: no scripts and no external files. Texts keep the widths that were
// measured for the layout, even if the reader has other fonts. Pure function.
#pragma once

#include <string>

#include "ui/timeline/model/draw_list.h"
#include "ui/timeline/raster/fonts.h"

namespace vramscope::ui::timeline {

struct SvgPage {
  int width = 0, height = 0;  // logical pixels
  Color ground;
  std::string title = {};
};
std::string SvgOf(const DrawList& list, const QtTextMeasure& measure, const SvgPage& page);

}  // namespace vramscope::ui::timeline
