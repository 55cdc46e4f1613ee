// The window's style, made from the timeline's theme: flat surfaces, one accent color, thin lines.
#pragma once

#include <QPalette>
#include <QString>

#include "ui/timeline/theme.h"

namespace vramscope::ui {

enum class ThemeChoice { kSystem, kDark, kLight };
QString ThemeName(ThemeChoice choice);             // "dark"
ThemeChoice ThemeFromName(const QString& name);    // for unknown names: kSystem
timeline::Theme ResolveTheme(ThemeChoice choice);  // kSystem: dark if the desktop is dark

QPalette MakePalette(const timeline::Theme& theme);
// Sets the style, palette and font of the whole application.
void ApplyTheme(const timeline::Theme& theme);

}  // namespace vramscope::ui
