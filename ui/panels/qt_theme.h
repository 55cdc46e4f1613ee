// Converts the theme's plain values to Qt types.
#pragma once

#include <QColor>
#include <QFont>

#include "ui/timeline/raster/fonts.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

inline QColor ToQColor(timeline::Color c) { return QColor(c.r, c.g, c.b, c.a); }

// The colour of hints in empty fields and empty tables: the text's, half transparent.
inline QColor HintColor(QColor text) {
  constexpr int kHalf = 128;
  text.setAlpha(kHalf);
  return text;
}

inline QFont PanelFont(timeline::Font role) { return timeline::CanvasFont(role); }

inline QString ToQString(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace vramscope::ui
