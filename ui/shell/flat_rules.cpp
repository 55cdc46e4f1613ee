#include "ui/shell/flat_rules.h"

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStatusBar>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <cstring>

namespace vramscope::ui {
namespace {

QString Property(const QWidget* widget, const char* name) {
  return widget->property(name).toString();
}

bool Inside(const QWidget* widget, QLatin1String name) {
  for (const QWidget* outer = widget->parentWidget(); outer; outer = outer->parentWidget()) {
    if (outer->objectName() == name) return true;
    if (outer->isWindow()) break;
  }
  return false;
}

bool InsideSetup(const QWidget* widget) { return Inside(widget, QLatin1String("setupPanel")); }

template <class Class>
bool Inside(const QWidget* widget) {
  for (const QWidget* outer = widget->parentWidget(); outer; outer = outer->parentWidget())
    if (qobject_cast<const Class*>(outer) != nullptr) return true;
  return false;
}

bool IsTip(const QWidget* widget) {
  return std::strcmp(widget->metaObject()->className(), "QTipLabel") == 0;
}

std::optional<Box> ToolButtonBox(const QToolButton* button, StateFlags state,
                                 const StyleColors& colors) {
  const QString role = Property(button, "role");
  if (role == QLatin1String("chip")) {
    Box box{.border = Sides(1), .padding = {12, 4, 12, 4}, .fill = colors.raised, .radius = 12};
    if (state.hover) {
      box.fill = colors.hover;
      box.line = colors.line;
    }
    if (state.checked) box.fill = colors.selected;
    if (state.focus) box.line = colors.accent;
    if (button->popupMode() == QToolButton::InstantPopup) box.padding.setRight(24);
    if (InsideSetup(button)) {
      box.fill = colors.selected;
      box.padding = {10, 4, 10, 4};
    }
    return box;
  }
  const QColor under = state.hover || state.focus ? colors.raised : QColor();
  if (role == QLatin1String("quiet")) {
    Box box{.padding = {8, 4, 8, 4}, .fill = under, .radius = 4};
    if (button->objectName() == QLatin1String("closeDocument")) box.padding = {5, 1, 5, 1};
    if (button->objectName() == QLatin1String("newDocument")) box.padding = {9, 2, 9, 2};
    return box;
  }
  // the buttons that scroll tabs
  if (Inside<QTabBar>(button)) return Box{.fill = under.isValid() ? under : colors.panel};
  return {};
}

Box PushButtonBox(const QPushButton* button, StateFlags state, const StyleColors& colors) {
  const QString role = Property(button, "role");
  if (role == QLatin1String("link")) return {.padding = {6, 4, 6, 4}, .radius = 5};
  Box box{.border = Sides(1),
          .padding = {12, 4, 12, 4},
          .fill = state.hover ? colors.hover : colors.raised,
          .line = state.focus ? colors.accent : colors.line,
          .radius = 5};
  if (role == QLatin1String("wide")) box.padding = {10, 6, 10, 6};
  if (role == QLatin1String("primary") && state.enabled) {
    box.fill = state.hover ? colors.accent_hover : colors.accent;
    box.line = colors.accent;
  }
  return box;
}

Box FieldBox(StateFlags state, const StyleColors& colors) {
  return {.border = Sides(1),
          .padding = {8, 3, 8, 3},
          .fill = colors.raised,
          .line = state.focus   ? colors.accent
                  : state.hover ? colors.faint
                                : colors.line,
          .radius = 5};
}

std::optional<Box> ScrollAreaBox(const QWidget* area, StateFlags state, const StyleColors& colors) {
  const QColor line = state.focus ? colors.accent : QColor();
  if (qobject_cast<const QScrollArea*>(area) != nullptr)
    return Box{.border = {0, 1, 0, 1}, .fill = colors.panel, .line = line};
  if (qobject_cast<const QPlainTextEdit*>(area) != nullptr &&
      area->objectName() == QLatin1String("programOutput"))
    return Box{
        .border = Sides(1), .padding = Sides(2), .fill = colors.raised, .line = line, .radius = 5};
  if (IsComboList(area))
    return Box{.border = Sides(1),
               .padding = Sides(3),
               .fill = colors.panel,
               .line = line.isValid() ? line : colors.line};
  if (qobject_cast<const QTableView*>(area) != nullptr ||
      qobject_cast<const QListView*>(area) != nullptr ||
      qobject_cast<const QPlainTextEdit*>(area) != nullptr)
    return Box{.border = Sides(1), .fill = colors.panel, .line = line};
  return {};
}

// Surfaces and lines between parts of the window, by their names.
std::optional<Box> SurfaceBox(const QWidget* widget, const StyleColors& colors) {
  if (!widget->testAttribute(Qt::WA_StyledBackground)) return {};
  const QString name = widget->objectName();
  constexpr QMargins kBelow{0, 0, 0, 1};
  if (name == QLatin1String("header") || name == QLatin1String("documentTabs"))
    return Box{.border = kBelow, .fill = colors.panel, .line = colors.line};
  if (name == QLatin1String("canvas")) return Box{.fill = colors.ground};
  if (name == QLatin1String("thinLine")) return Box{.fill = colors.line};
  if (name == QLatin1String("banner"))
    return Box{.border = kBelow, .fill = colors.raised, .line = colors.line};
  if (name == QLatin1String("bannerEdge"))
    return Box{.fill =
                   Property(widget, "tone") == QLatin1String("bad") ? colors.bad : colors.warning};
  if (name == QLatin1String("setupPanel"))
    return Box{.border = Sides(1), .fill = colors.raised, .line = colors.line, .radius = 6};
  if (name == QLatin1String("tour"))
    return Box{.border = Sides(1), .fill = colors.panel, .line = colors.accent, .radius = 8};
  return {};
}

std::optional<Box> FrameBox(const QFrame* frame, StateFlags state, const StyleColors& colors) {
  if (qobject_cast<const QAbstractScrollArea*>(frame) != nullptr)
    return ScrollAreaBox(frame, state, colors);
  if (qobject_cast<const QLabel*>(frame) != nullptr) {
    if (!IsTip(frame)) return {};
    return Box{
        .border = Sides(1), .padding = {6, 4, 6, 4}, .fill = colors.raised, .line = colors.line};
  }
  return SurfaceBox(frame, colors);
}

}  // namespace

bool IsEmbedded(const QWidget* widget) {
  if (qobject_cast<const QLineEdit*>(widget) == nullptr) return false;
  const QWidget* outer = widget->parentWidget();
  return qobject_cast<const QComboBox*>(outer) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(outer) != nullptr;
}

bool HasRole(const QWidget* widget, const char* role) {
  return widget != nullptr && Property(widget, "role") == QLatin1String(role);
}

std::optional<QPalette::ColorRole> LabelColorRole(const QLabel& label) {
  struct Entry {
    const char* name;
    QPalette::ColorRole role;
  };
  constexpr Entry kTones[] = {{"accent", kAccentRole},
                              {"good", kGoodRole},
                              {"bad", kBadRole},
                              {"dim", kDimRole},
                              {"faint", kFaintRole}};
  constexpr Entry kRoles[] = {
      {"heading", kDimRole}, {"group", kDimRole}, {"body", QPalette::WindowText},
      {"label", kLabelRole}, {"dim", kDimRole},   {"faint", kFaintRole}};
  const QString tone = Property(&label, "tone"), role = Property(&label, "role");
  for (const Entry& entry : kTones)
    if (tone == QLatin1String(entry.name)) return entry.role;
  for (const Entry& entry : kRoles)
    if (role == QLatin1String(entry.name)) return entry.role;
  return {};
}

std::optional<Box> BoxOf(const QWidget* widget, QStyle::State state, const StyleColors& colors) {
  if (widget == nullptr) return {};
  const StateFlags flags(state);
  if (const auto* frame = qobject_cast<const QFrame*>(widget))
    return FrameBox(frame, flags, colors);
  if (const auto* button = qobject_cast<const QToolButton*>(widget))
    return ToolButtonBox(button, flags, colors);
  if (const auto* button = qobject_cast<const QPushButton*>(widget))
    return PushButtonBox(button, flags, colors);
  if (qobject_cast<const QLineEdit*>(widget) != nullptr)
    return IsEmbedded(widget) ? std::nullopt : std::optional(FieldBox(flags, colors));
  if (qobject_cast<const QComboBox*>(widget) != nullptr ||
      qobject_cast<const QAbstractSpinBox*>(widget) != nullptr)
    return FieldBox(flags, colors);
  if (qobject_cast<const QProgressBar*>(widget) != nullptr) {
    if (InsideSetup(widget)) return Box{.fill = colors.hover, .radius = 3};
    return Box{.margin = {0, 0, 12, 0}, .fill = colors.raised, .radius = 3};
  }
  if (qobject_cast<const QMenu*>(widget) != nullptr)
    return Box{.border = Sides(1), .padding = Sides(4), .fill = colors.panel, .line = colors.line};
  if (qobject_cast<const QMenuBar*>(widget) != nullptr)
    return Box{.padding = {6, 2, 6, 2}, .fill = colors.panel};
  if (qobject_cast<const QStatusBar*>(widget) != nullptr)
    return Box{.border = {0, 1, 0, 0}, .fill = colors.panel, .line = colors.line};
  return SurfaceBox(widget, colors);
}

QColor TextOf(const QToolButton& button, QStyle::State state, const StyleColors& colors) {
  const StateFlags flags(state);
  if (HasRole(&button, "quiet"))
    return flags.focus ? colors.accent : flags.hover ? colors.text : colors.dim;
  if (!HasRole(&button, "chip")) return flags.enabled ? colors.text : colors.faint;
  if (InsideSetup(&button)) return colors.accent;
  const QString tone = Property(&button, "tone");
  if (tone == QLatin1String("accent")) return colors.accent;
  if (tone == QLatin1String("good")) return colors.good;
  if (tone == QLatin1String("bad")) return colors.bad;
  return flags.checked ? colors.accent : colors.text;
}

QColor TextOf(const QPushButton& button, QStyle::State state, const StyleColors& colors) {
  if (HasRole(&button, "link")) return colors.accent;
  if ((state & QStyle::State_Enabled) == 0) return colors.faint;
  return HasRole(&button, "primary") ? colors.on_accent : colors.text;
}

Box MenuItemBox(QStyle::State state, const StyleColors& colors) {
  return {.padding = {22, 5, 26, 5},
          .fill = StateFlags(state).selected ? colors.hover : QColor(),
          .radius = 4};
}

Box MenuSeparatorBox(const StyleColors& colors) {
  return {.margin = {6, 4, 6, 4}, .fill = colors.line};
}

Box MenuBarItemBox(QStyle::State state, const StyleColors& colors) {
  return {.padding = {10, 4, 10, 4},
          .fill = StateFlags(state).selected ? colors.raised : QColor(),
          .radius = 4};
}

Box HeaderSectionBox(const StyleColors& colors) {
  return {.padding = {11, 4, 11, 4}, .fill = colors.panel};
}

Box ScrollHandleBox(QStyle::State state, const StyleColors& colors) {
  return {.margin = Sides(2),
          .fill = StateFlags(state).hover ? colors.faint : colors.line,
          .radius = 3};
}

Box ChunkBox(const StyleColors& colors) { return {.fill = colors.accent, .radius = 3}; }

bool IsDocumentBar(const QWidget* bar) {
  return bar != nullptr && bar->objectName() == QLatin1String("documentBar");
}

Box TabBox(const QWidget* bar, QStyle::State state, const StyleColors& colors) {
  const StateFlags flags(state);
  const QColor below = flags.selected ? colors.accent : QColor(Qt::transparent);
  if (IsDocumentBar(bar))
    return {.border = {0, 0, 1, 2},
            .padding = {12, 5, 4, 4},
            .fill = flags.selected ? colors.ground : QColor(),
            .line = colors.line,
            .bottom_line = below};
  return {.margin = {12, 0, 12, 0},
          .border = {0, 0, 0, 2},
          .padding = {2, 8, 2, 6},
          .fill = flags.selected && flags.focus ? colors.raised : QColor(),
          .bottom_line = below};
}

QColor TabText(QStyle::State state, const StyleColors& colors) {
  const StateFlags flags(state);
  if (flags.selected) return flags.focus ? colors.accent : colors.text;
  return flags.hover ? colors.text : colors.dim;
}

std::optional<Box> ViewItemBox(const QWidget* view, QStyle::State state,
                               const StyleColors& colors) {
  const bool selected = StateFlags(state).selected;
  if (qobject_cast<const QTableView*>(view) != nullptr)
    return Box{.padding = {8, 0, 8, 0}, .fill = selected ? colors.selected : QColor()};
  if (qobject_cast<const QListWidget*>(view) != nullptr)
    return Box{.padding = {8, 5, 8, 5}, .fill = selected ? colors.hover : QColor(), .radius = 4};
  return {};
}

bool IsComboList(const QWidget* view) {
  return qobject_cast<const QListView*>(view) != nullptr && Inside<QComboBox>(view);
}

bool HidesFocusRect(const QWidget* view) {
  return qobject_cast<const QTableView*>(view) != nullptr ||
         qobject_cast<const QListWidget*>(view) != nullptr;
}

}  // namespace vramscope::ui
