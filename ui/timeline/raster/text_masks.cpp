#include "ui/timeline/raster/text_masks.h"

#include <QImage>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

namespace vramscope::ui::timeline {
namespace {

constexpr size_t kMostBytes = 8 << 20;
constexpr int kMargin = 3;  // in device pixels; letters may reach beyond their advance width

}  // namespace

void TextMasks::Begin(double scale) {
  if (scale == scale_ && bytes_ < kMostBytes) return;
  for (auto& masks : masks_) masks.clear();
  scale_ = scale;
  bytes_ = 0;
}

TextMasks::Placed TextMasks::Place(std::string_view utf8, const TextPrim& text) {
  auto& masks = masks_[static_cast<size_t>(text.font)];
  auto found = masks.find(utf8);
  if (found == masks.end()) {
    found = masks.emplace(utf8, Draw(utf8, text.font)).first;
    bytes_ += found->second.coverage.size() + utf8.size() + 128;
  }
  if (found->second.coverage.empty()) return {};
  const QFontMetricsF& metrics = measure_->metrics(text.font);
  double x = text.box.x;
  if (text.align != Align::kLeft) {
    const double room = text.box.w - measure_->Width(utf8, text.font);
    x += text.align == Align::kCenter ? room / 2 : room;
  }
  // Center the text by the height of its capitals and digits. Put the baseline at a whole pixel, so
  // that a text looks the same everywhere.
  const double baseline = text.box.y + text.box.h / 2 + metrics.capHeight() / 2;
  const double most = 1e6;
  return {&found->second,
          static_cast<int>(std::lround(std::clamp(x * scale_, -most, most))) - kMargin,
          static_cast<int>(std::lround(std::clamp(baseline * scale_, -most, most))) -
              static_cast<int>(std::ceil(metrics.ascent() * scale_)) - kMargin};
}

Mask TextMasks::Draw(std::string_view utf8, Font font) const {
  constexpr int kMostPixels = 1 << 22;
  const QFontMetricsF& metrics = measure_->metrics(font);
  const double ascent = std::ceil(metrics.ascent() * scale_);
  const int width = static_cast<int>(std::ceil(measure_->Width(utf8, font) * scale_)) + 2 * kMargin;
  const int height = static_cast<int>(ascent + std::ceil(metrics.descent() * scale_)) + 2 * kMargin;
  if (width <= 2 * kMargin || height <= 0 || width > kMostPixels / height) return {};
  QImage image(width, height, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  image.setDevicePixelRatio(scale_);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(measure_->font(font));
  painter.setPen(Qt::white);
  painter.drawText(QPointF(kMargin / scale_, (kMargin + ascent) / scale_),
                   QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size())));
  painter.end();
  Mask mask{width, height, {}};
  mask.coverage.resize(static_cast<size_t>(width) * static_cast<size_t>(height));
  for (int y = 0; y < height; ++y) {
    const auto* row = reinterpret_cast<const QRgb*>(image.constScanLine(y));
    std::transform(row, row + width, mask.coverage.begin() + static_cast<ptrdiff_t>(y) * width,
                   [](QRgb p) { return static_cast<uint8_t>(qAlpha(p)); });
  }
  return mask;
}

}  // namespace vramscope::ui::timeline
