// Draws a DrawList into a QImage by filling pixels, which is 10 to 50 times faster than
// software OpenGL. All free cores draw bands of rows, and each band fits into a core's cache. Needs
// no display.
//
//   RasterRenderer r(&crew);
//   QImage image(size * dpr, QImage::Format_ARGB32_Premultiplied);
//   image.setDevicePixelRatio(dpr);
//   r.Render(list, &image);
//
// For use by one thread at a time.
#pragma once

#include <QImage>
#include <QStaticText>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ui/timeline/model/crew.h"
#include "ui/timeline/model/draw_list.h"
#include "ui/timeline/raster/pixel_fill.h"
#include "ui/timeline/raster/text_masks.h"

class QPainter;

namespace vramscope::ui::timeline {

class RasterRenderer {
 public:
  // `crew` must outlive the renderer.
  explicit RasterRenderer(Crew* crew) : crew_(crew) {}

  // `image` must have the format ARGB32_Premultiplied or RGB32, and its device pixel ratio.
  void Render(const DrawList& list, QImage* image);
  // Draws with a QPainter, either over the existing contents of its device or into a vector file
  // (PDF). This is slow for large lists.
  void Paint(const DrawList& list, QPainter* painter);

  const QtTextMeasure& measure() const { return measure_; }
  // Sets the number of rows per band. 0: as many as fit into a cache. The number does not affect
  // the image.
  void SetBandRows(int rows) { band_rows_ = rows; }

 private:
  void FillBand(const DrawList& list, const PixelTarget& target) const;
  void PaintCommand(const DrawList& list, const Command& command, QPainter* painter);
  void PaintText(const DrawList& list, const TextPrim& text, QPainter* painter);
  void PaintStack(const DrawList& list, const StackPrim& stack, QPainter* painter);

  using LaidOut = std::unordered_map<std::string, QStaticText, TextHash, std::equal_to<>>;

  QtTextMeasure measure_;
  TextMasks masks_{&measure_};
  std::vector<TextMasks::Placed> placed_;  // masks of the current list's texts, by text index
  std::array<LaidOut, kFontCount> laid_out_;
  int band_rows_ = 0;
  Crew* crew_;
};

}  // namespace vramscope::ui::timeline
