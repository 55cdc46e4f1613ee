// What each kind of widget looks like in the window: its box and the colour of its text, which
// depend on the widget's state. FlatStyle draws and measures with them.
//
//   if (const std::optional<Box> box = BoxOf(widget, option->state, colors))
//     box->Draw(painter, option->rect);
//
// UI thread only, because it reads properties of widgets.
#pragma once

#include <QPalette>
#include <QStyle>
#include <optional>

#include "ui/shell/flat_box.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QToolButton;

namespace vramscope::ui {

// The palette's roles of the colours of labels. Qt's styles do not use the first three.
constexpr QPalette::ColorRole kDimRole = QPalette::Midlight;
constexpr QPalette::ColorRole kLabelRole = QPalette::Shadow;
constexpr QPalette::ColorRole kGoodRole = QPalette::LinkVisited;
constexpr QPalette::ColorRole kBadRole = QPalette::BrightText;
constexpr QPalette::ColorRole kAccentRole = QPalette::Link;
constexpr QPalette::ColorRole kFaintRole = QPalette::PlaceholderText;

// sizes in pixels
constexpr int kFieldContents = 18;  // minimum height of the contents of a line edit or a combo box
constexpr int kFieldHeight = 26;    // the same with padding and border
constexpr int kDropDown = 22;       // width of a combo box's arrow and the space around it
constexpr int kScrollBar = 10;
constexpr int kLeastHandle = 32;  // minimum length of a scroll bar's handle, with its margin
constexpr int kCheckMark = 12;    // width and height of a menu item's check mark
constexpr int kSortArrow = 8;
constexpr int kWidestDocumentTab = 210;
constexpr int kTabScrollers = 22;  // width of one of the buttons that scroll tabs

struct StateFlags {
  explicit StateFlags(QStyle::State state)
      : enabled((state & QStyle::State_Enabled) != 0),
        hover(enabled && (state & QStyle::State_MouseOver) != 0),
        focus((state & QStyle::State_HasFocus) != 0),
        checked((state & QStyle::State_On) != 0),
        selected((state & QStyle::State_Selected) != 0) {}
  bool enabled, hover, focus, checked, selected;
};

// Whether the widget is the line edit of a combo box or a spin box, which draws the box.
bool IsEmbedded(const QWidget* widget);
bool HasRole(const QWidget* widget, const char* role);  // the property "role"
// The palette's role of the text of a label with a property "role" or "tone", or nothing if it has
// neither.
std::optional<QPalette::ColorRole> LabelColorRole(const QLabel& label);

// The box of a widget, or nothing if Fusion draws the widget. `widget` may be null.
std::optional<Box> BoxOf(const QWidget* widget, QStyle::State state, const StyleColors& colors);
QColor TextOf(const QToolButton& button, QStyle::State state, const StyleColors& colors);
QColor TextOf(const QPushButton& button, QStyle::State state, const StyleColors& colors);

// The boxes of parts of widgets.
Box MenuItemBox(QStyle::State state, const StyleColors& colors);
Box MenuSeparatorBox(const StyleColors& colors);
Box MenuBarItemBox(QStyle::State state, const StyleColors& colors);
Box HeaderSectionBox(const StyleColors& colors);
Box ScrollHandleBox(QStyle::State state, const StyleColors& colors);
Box ChunkBox(const StyleColors& colors);
// Tabs of documents differ from the tabs of pages.
bool IsDocumentBar(const QWidget* bar);
Box TabBox(const QWidget* bar, QStyle::State state, const StyleColors& colors);
QColor TabText(QStyle::State state, const StyleColors& colors);
// The box of an item of a table or of a list of commands. Nothing for other views.
std::optional<Box> ViewItemBox(const QWidget* view, QStyle::State state, const StyleColors& colors);
// Whether the view is the list in the pop-up of a combo box.
bool IsComboList(const QWidget* view);
// Whether the view shows the focus by its border alone.
bool HidesFocusRect(const QWidget* view);

}  // namespace vramscope::ui
