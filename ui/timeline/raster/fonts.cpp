#include "ui/timeline/raster/fonts.h"

#include <QFontDatabase>
#include <QStringList>

namespace vramscope::ui::timeline {
namespace {

constexpr size_t kMaxRememberedWidths = 20000;

QString FirstInstalled(const QStringList& wanted, QFontDatabase::SystemFont otherwise) {
  const QStringList families = QFontDatabase::families();
  for (const QString& family : wanted) {
    if (families.contains(family)) return family;
  }
  return QFontDatabase::systemFont(otherwise).family();
}

}  // namespace

QString SansFamily() {
  static const QString family =
      FirstInstalled({"Inter", "DejaVu Sans"}, QFontDatabase::GeneralFont);
  return family;
}

QString FallbackFamily() {
  // Fonts of these families have the Chinese shapes of characters. Fontconfig might choose a font
  // with Japanese shapes.
  static const QString family = [] {
    const QStringList families = QFontDatabase::families();
    for (const char* wanted : {"Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC",
                               "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback"})
      if (families.contains(QLatin1String(wanted))) return QString::fromLatin1(wanted);
    return QString();
  }();
  return family;
}

QString MonoFamily() {
  static const QString family = FirstInstalled(
      {"JetBrains Mono", "DejaVu Sans Mono", "Liberation Mono"}, QFontDatabase::FixedFont);
  return family;
}

QFont CanvasFont(Font role) {
  bool mono = role == Font::kMono || role == Font::kMonoSmall;
  QStringList families = {mono ? MonoFamily() : SansFamily()};
  if (const QString more = FallbackFamily(); !more.isEmpty()) families << more;
  QFont font(families);
  switch (role) {
    case Font::kBody:
    case Font::kBodyBold:
      font.setPixelSize(13);
      break;
    case Font::kMono:
      font.setPixelSize(12);
      break;
    case Font::kSmall:
    case Font::kSmallBold:
      font.setPixelSize(11);
      break;
    case Font::kMonoSmall:
      font.setPixelSize(11);
      break;
    case Font::kTitle:
      font.setPixelSize(17);
      break;
  }
  if (role == Font::kBodyBold || role == Font::kSmallBold || role == Font::kTitle) {
    font.setWeight(QFont::DemiBold);
  }
  // Use no subpixel colors: tests compare images, and there are dark and light backgrounds.
  font.setStyleStrategy(QFont::StyleStrategy(QFont::PreferAntialias | QFont::NoSubpixelAntialias));
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

QtTextMeasure::QtTextMeasure() {
  for (int i = 0; i < kFontCount; ++i) {
    fonts_[i] = CanvasFont(static_cast<Font>(i));
    metrics_[i] = std::make_unique<QFontMetricsF>(fonts_[i]);
  }
}

float QtTextMeasure::Width(std::string_view utf8, Font font) const {
  auto& widths = widths_[static_cast<size_t>(font)];
  const auto found = widths.find(utf8);
  if (found != widths.end()) return found->second;
  if (widths.size() > kMaxRememberedWidths) widths.clear();
  auto width = static_cast<float>(
      metrics(font).horizontalAdvance(QString::fromUtf8(utf8.data(), qsizetype(utf8.size()))));
  widths.emplace(utf8, width);
  return width;
}

}  // namespace vramscope::ui::timeline
