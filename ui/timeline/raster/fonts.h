// The canvas's fonts: Inter if it is installed, or else DejaVu Sans if that is installed, or else a
// system font.
#pragma once

#include <QFont>
#include <QFontMetricsF>
#include <QString>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ui/timeline/model/draw_list.h"

namespace vramscope::ui::timeline {

QFont CanvasFont(Font role);
// The families of the proportional and the monospaced font. The shell also uses them.
QString SansFamily();
QString MonoFamily();
// The family for Chinese characters, or "" if no known Chinese font is installed.
QString FallbackFamily();

// A hash that allows lookups by std::string_view without making a std::string.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Measures texts in Qt's fonts. Caches the widths.
class QtTextMeasure : public TextMeasure {
 public:
  QtTextMeasure();
  float Width(std::string_view utf8, Font font) const override;
  const QFont& font(Font role) const { return fonts_[static_cast<size_t>(role)]; }
  const QFontMetricsF& metrics(Font role) const { return *metrics_[static_cast<size_t>(role)]; }

 private:
  std::array<QFont, kFontCount> fonts_;
  std::array<std::unique_ptr<QFontMetricsF>, kFontCount> metrics_;
  using Widths = std::unordered_map<std::string, float, TextHash, std::equal_to<>>;
  mutable std::array<Widths, kFontCount> widths_;
};

}  // namespace vramscope::ui::timeline
