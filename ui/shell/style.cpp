#include "ui/shell/style.h"

#include <QApplication>

#include "ui/panels/qt_theme.h"
#include "ui/shell/theme_zones.h"

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

constexpr const char* kSheet = R"(
QDialog { background: @panel; }
QToolBar#headerBar { border: none; padding: 0; spacing: 0; }
QToolTip { background: @raised; color: @text; border: 1px solid @line; padding: 4px 6px; }

QMenuBar { background: @panel; color: @dim; padding: 2px 6px; }
QMenuBar::item { padding: 4px 10px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: @raised; color: @text; }
QMenu { background: @panel; color: @text; border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 5px 26px 5px 22px; border-radius: 4px; }
QMenu::item:selected { background: @hover; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @line; margin: 4px 6px; }
QMenu::indicator { width: 12px; height: 12px; left: 6px; }

QLabel { background: transparent; }
QLabel[role="heading"] { color: @dim; letter-spacing: 0.4px; }
QLabel[role="group"] { color: @dim; }
QLabel[role="body"] { color: @text; }
QLabel[role="label"] { color: @label; }
QLabel[role="dim"] { color: @dim; }
QLabel[role="faint"] { color: @faint; }
QLabel[role="body"]:disabled { color: @faint; }
QLabel[tone="accent"] { color: @accent; }
QLabel[tone="good"] { color: @good; }
QLabel[tone="bad"] { color: @bad; }
QLabel[tone="dim"] { color: @dim; }
QLabel[tone="faint"] { color: @faint; }
QFrame#tour { background: @panel; border: 1px solid @accent; border-radius: 8px; }
QFrame#thinLine { background: @line; border: none; }

QWidget#header { background: @panel; border-bottom: 1px solid @line; }
QWidget#canvas { background: @ground; }
QToolButton[role="chip"] { background: @raised; color: @text; border: 1px solid transparent;
    border-radius: 12px; padding: 4px 12px; }
QToolButton[role="chip"]:hover { border-color: @line; background: @hover; }
QToolButton[role="chip"]:checked { background: @selected; color: @accent; }
QToolButton[role="chip"]:focus { border-color: @accent; }
QToolButton[role="chip"][tone="accent"] { color: @accent; }
QToolButton[role="chip"][tone="good"] { color: @good; }
QToolButton[role="chip"][tone="bad"] { color: @bad; }
QToolButton[role="chip"][popupMode="2"] { padding-right: 24px; }
QToolButton[role="chip"]::menu-indicator { image: url(:/vramscope/chevron-@mode.svg); width: 8px;
    height: 8px; subcontrol-origin: padding; subcontrol-position: right center; right: 10px; }
QToolButton[role="quiet"] { background: transparent; color: @dim; border: none; padding: 4px 8px;
    border-radius: 4px; }
QToolButton[role="quiet"]:hover { color: @text; background: @raised; }
QToolButton[role="quiet"]:focus { color: @accent; background: @raised; }

QScrollArea { border: none; border-top: 1px solid transparent; border-bottom: 1px solid transparent;
    background: @panel; }
QScrollArea:focus, QTableView:focus, QPlainTextEdit:focus, QListView:focus { border-color: @accent; }
QScrollArea > QWidget > QWidget { background: @panel; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @line; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QComboBox, QAbstractSpinBox, QLineEdit { background: @raised; color: @text; border: 1px solid @line;
    border-radius: 5px; padding: 3px 8px; min-height: 18px; selection-background-color: @accent;
    selection-color: @onaccent; }
QComboBox:hover, QAbstractSpinBox:hover, QLineEdit:hover { border-color: @faint; }
QComboBox:focus, QAbstractSpinBox:focus, QLineEdit:focus { border-color: @accent; }
QComboBox:disabled, QAbstractSpinBox:disabled, QLineEdit:disabled { color: @faint; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url(:/vramscope/chevron-@mode.svg); width: 9px; height: 9px; }
QComboBox QAbstractItemView { background: @panel; color: @text; border: 1px solid @line;
    outline: none; selection-background-color: @hover; selection-color: @text; padding: 3px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; }

QPushButton { background: @raised; color: @text; border: 1px solid @line; border-radius: 5px;
    padding: 4px 12px; }
QPushButton:hover { background: @hover; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @faint; }
QPushButton[role="primary"] { background: @accent; color: @onaccent; border-color: @accent; }
QPushButton[role="primary"]:hover { background: @accenthover; }
QPushButton[role="primary"]:disabled { background: @raised; color: @faint; border-color: @line; }
QPushButton[role="wide"] { text-align: left; padding: 6px 10px; }
QPushButton[role="link"] { background: transparent; border: none; color: @accent; padding: 4px 6px; }
QPushButton[role="link"]:hover { text-decoration: underline; }

QTabWidget::pane { border: none; border-top: 1px solid @line; }
QTabWidget { background: @panel; }
QTabBar { background: @panel; }
QTabBar::tab { background: transparent; color: @dim; padding: 8px 2px 6px 2px; margin: 0 12px;
    border: none; border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; font-weight: 600; border-bottom: 2px solid @accent; }
QTabBar::tab:selected:focus { color: @accent; background: @raised; }

QWidget#documentTabs { background: @panel; border-bottom: 1px solid @line; }
QTabBar#documentBar::tab { padding: 5px 4px 4px 12px; margin: 0; max-width: 210px;
    border-right: 1px solid @line; border-bottom: 2px solid transparent; }
QTabBar#documentBar::tab:selected { background: @ground; font-weight: 400;
    border-bottom-color: @accent; }
QToolButton#closeDocument { padding: 1px 5px; }
QToolButton#newDocument { padding: 2px 9px; }
QTabBar::scroller { width: 44px; }
QTabBar QToolButton { background: @panel; border: none; }
QTabBar QToolButton:hover, QTabBar QToolButton:focus { background: @raised; }
QAbstractScrollArea::corner { background: transparent; border: none; }

QTableView { background: @panel; alternate-background-color: @panel; color: @text;
    border: 1px solid transparent; outline: none; selection-background-color: @selected; selection-color: @text; }
QTableView::item { padding: 0 8px; border: none; }
QTableView::item:selected { background: @selected; color: @text; }
QHeaderView { background: @panel; }
QHeaderView::section { background: @panel; color: @dim; border: none; padding: 4px 11px; }
QHeaderView::section:hover { color: @text; }
QHeaderView::down-arrow, QHeaderView::up-arrow { width: 8px; height: 8px; margin-right: 1px;
    image: url(:/vramscope/chevron-@mode.svg); subcontrol-position: top center; }
QHeaderView::up-arrow { image: url(:/vramscope/chevron-up-@mode.svg); }
QPlainTextEdit, QListView, QListWidget { background: @panel; color: @text;
    border: 1px solid transparent; outline: none; }
QPlainTextEdit#programOutput { background: @raised; border-radius: 5px; padding: 2px; }
QListWidget::item { padding: 5px 8px; border-radius: 4px; }
QListWidget::item:selected { background: @hover; color: @text; }

QProgressBar { background: @raised; border: none; border-radius: 3px; margin-right: 12px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QStatusBar { background: @panel; color: @dim; border-top: 1px solid @line; }
QStatusBar::item { border: none; }
QFrame#banner { background: @raised; border: none; border-bottom: 1px solid @line; }
QFrame#setupPanel { background: @raised; border: 1px solid @line; border-radius: 6px; }
QFrame#setupPanel QToolButton[role="chip"] { background: @selected; color: @accent; padding: 4px 10px; }
QFrame#setupPanel QProgressBar { background: @hover; margin-right: 0px; }
QFrame#bannerEdge[tone="bad"] { background: @bad; }
QFrame#bannerEdge[tone="warning"] { background: @warning; }
QFrame#palette { background: @panel; border: 1px solid @line; border-radius: 8px; }
)";

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
  QPalette palette;
  palette.setColor(QPalette::Window, ToQColor(theme.panel));
  palette.setColor(QPalette::WindowText, ToQColor(theme.text));
  palette.setColor(QPalette::Base, ToQColor(theme.panel));
  palette.setColor(QPalette::AlternateBase, ToQColor(theme.raised));
  palette.setColor(QPalette::Text, ToQColor(theme.text));
  palette.setColor(QPalette::Button, ToQColor(theme.raised));
  palette.setColor(QPalette::ButtonText, ToQColor(theme.text));
  palette.setColor(QPalette::BrightText, ToQColor(theme.bad));
  palette.setColor(QPalette::ToolTipBase, ToQColor(theme.raised));
  palette.setColor(QPalette::ToolTipText, ToQColor(theme.text));
  palette.setColor(QPalette::PlaceholderText, ToQColor(theme.faint));
  palette.setColor(QPalette::Link, ToQColor(theme.accent));
  palette.setColor(QPalette::Highlight, ToQColor(theme.accent));
  palette.setColor(QPalette::HighlightedText, ToQColor(theme.on_color));
  palette.setColor(QPalette::Mid, ToQColor(theme.line));
  palette.setColor(QPalette::Dark, ToQColor(theme.line));
  for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, ToQColor(theme.faint));
  return palette;
}

QString MakeStyleSheet(const timeline::Theme& theme) {
  QString sheet = QString::fromLatin1(kSheet);
  const auto put = [&sheet](const char* name, timeline::Color color) {
    sheet.replace(QLatin1String(name), QString::fromStdString(color.Hex()));
  };
  // Replace longer names first, because a name may begin with another name: "@accenthover" begins
  // with "@accent".
  put("@onaccent", theme.dark ? theme.on_color : timeline::Color::Rgb(0xffffff));
  put("@accenthover", timeline::Mix(theme.accent, theme.text, 0.15));
  put("@selected", timeline::Mix(theme.panel, theme.accent, theme.dark ? 0.16 : 0.14));
  put("@warning", theme.warning);
  put("@ground", theme.ground);
  put("@raised", theme.raised);
  put("@accent", theme.accent);
  put("@panel", theme.panel);
  put("@label", timeline::Mix(theme.dim, theme.text, 0.35));
  put("@hover", timeline::Mix(theme.raised, theme.text, 0.07));
  put("@faint", theme.faint);
  put("@line", theme.line);
  put("@text", theme.text);
  put("@good", theme.good);
  put("@bad", theme.bad);
  put("@dim", theme.dim);
  sheet.replace(QLatin1String("@mode"), QLatin1String(theme.dark ? "dark" : "light"));
  return sheet;
}

void ApplyTheme(const timeline::Theme& theme) {
  static bool first = true;
  if (first) {
    first = false;
    InitResources();
    SystemIsDark();
    QApplication::setStyle(new FlatStyle);
    QApplication::setFont(PanelFont(timeline::Font::kBody));
  }
  QApplication::setPalette(MakePalette(theme));
  ThemeZones::Instance().setSheet(MakeStyleSheet(theme));
}

}  // namespace vramscope::ui
