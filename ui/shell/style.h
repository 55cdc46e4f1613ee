// The shell's looks from the timeline's theme: flat surfaces, one accent, thin lines.
#pragma once

#include <QPalette>
#include <QString>

#include "ui/timeline/theme.h"

namespace vramscope::ui {

enum class ThemeChoice { kSystem, kDark, kLight };
QString ThemeName(ThemeChoice choice);             // "dark"
ThemeChoice ThemeFromName(const QString& name);    // what is unknown: kSystem
timeline::Theme ResolveTheme(ThemeChoice choice);  // kSystem: as the desktop's palette was

QPalette MakePalette(const timeline::Theme& theme);
QString MakeStyleSheet(const timeline::Theme& theme);
// Palette, style sheet and font of the whole application.
void ApplyTheme(const timeline::Theme& theme);

}  // namespace vramscope::ui
