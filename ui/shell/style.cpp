#include "ui/shell/style.h"

#include <QApplication>
#include <QToolTip>

#include "ui/panels/qt_theme.h"
#include "ui/shell/flat_rules.h"
#include "ui/shell/flat_style.h"

// Makes Qt find the resources of this static library. Q_INIT_RESOURCE must be used at global scope.
static void InitResources() { Q_INIT_RESOURCE(icons); }

namespace vramscope::ui {
namespace {

// Returns whether the desktop's palette is dark. The first call must come before ApplyTheme()
// changes the palette.
bool SystemIsDark() {
  static const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  return dark;
}

}  // namespace

QString ThemeName(ThemeChoice choice) {
  switch (choice) {
    case ThemeChoice::kDark:
      return QStringLiteral("dark");
    case ThemeChoice::kLight:
      return QStringLiteral("light");
    case ThemeChoice::kSystem:
      break;
  }
  return QStringLiteral("system");
}

ThemeChoice ThemeFromName(const QString& name) {
  if (name == QLatin1String("dark")) return ThemeChoice::kDark;
  if (name == QLatin1String("light")) return ThemeChoice::kLight;
  return ThemeChoice::kSystem;
}

timeline::Theme ResolveTheme(ThemeChoice choice) {
  const bool dark =
      choice == ThemeChoice::kDark || (choice == ThemeChoice::kSystem && SystemIsDark());
  return dark ? timeline::Theme::Dark() : timeline::Theme::Light();
}

QPalette MakePalette(const timeline::Theme& theme) {
  const StyleColors colors(theme);
  QPalette palette;
  palette.setColor(QPalette::Window, colors.panel);
  palette.setColor(QPalette::WindowText, colors.text);
  palette.setColor(QPalette::Base, colors.panel);
  palette.setColor(QPalette::AlternateBase, colors.raised);
  palette.setColor(QPalette::Text, colors.text);
  palette.setColor(QPalette::Button, colors.raised);
  palette.setColor(QPalette::ButtonText, colors.text);
  palette.setColor(QPalette::ToolTipBase, colors.raised);
  palette.setColor(QPalette::ToolTipText, colors.text);
  palette.setColor(QPalette::Highlight, colors.accent);
  palette.setColor(QPalette::HighlightedText, ToQColor(theme.on_color));
  palette.setColor(QPalette::Mid, colors.line);
  palette.setColor(QPalette::Dark, colors.line);
  palette.setColor(kDimRole, colors.dim);
  palette.setColor(kLabelRole, colors.label);
  palette.setColor(kFaintRole, colors.faint);
  palette.setColor(kAccentRole, colors.accent);
  palette.setColor(kGoodRole, colors.good);
  palette.setColor(kBadRole, colors.bad);
  for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, colors.faint);
  return palette;
}

namespace {

// The palette of line edits, also of those in combo boxes and spin boxes.
QPalette MakeFieldPalette(const timeline::Theme& theme) {
  QPalette palette = MakePalette(theme);
  palette.setColor(QPalette::HighlightedText, StyleColors(theme).on_accent);
  for (QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled})
    palette.setColor(group, QPalette::PlaceholderText,
                     HintColor(palette.color(group, QPalette::Text)));
  return palette;
}

}  // namespace

void ApplyTheme(const timeline::Theme& theme) {
  auto* style = qobject_cast<FlatStyle*>(QApplication::style());
  if (style == nullptr) {
    InitResources();
    SystemIsDark();
    style = new FlatStyle;
    style->setTheme(theme);
    QApplication::setStyle(style);
    QApplication::setFont(PanelFont(timeline::Font::kBody));
  }
  style->setTheme(theme);
  const QPalette palette = MakePalette(theme);
  QApplication::setPalette(palette);
  QApplication::setPalette(MakeFieldPalette(theme), "QLineEdit");
  QToolTip::setPalette(palette);
}

}  // namespace vramscope::ui
