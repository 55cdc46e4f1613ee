// How the style draws; flat_style.cpp has the sizes and positions.
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStyleOption>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <algorithm>

#include "ui/shell/flat_rules.h"
#include "ui/shell/flat_style.h"

namespace vramscope::ui {
namespace {

constexpr int kBusySpeed = 480;  // pixels per second of a moving progress bar
constexpr int kMsPerSecond = 1000;

}  // namespace

void FlatStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option,
                              QPainter* painter, const QWidget* widget) const {
  const auto draw_box = [&] {
    const std::optional<Box> box = BoxOf(widget, option->state, colors_);
    if (box) box->Draw(painter, option->rect);
    return box.has_value();
  };
  switch (element) {
    case PE_IndicatorDockWidgetResizeHandle:
      painter->fillRect(option->rect, colors_.line);
      return;
    case PE_Widget:
      // Frames around other contents draw their box in CE_ShapedFrame.
      if (qobject_cast<const QAbstractScrollArea*>(widget) == nullptr && draw_box()) return;
      break;
    case PE_PanelMenu:
    case PE_PanelStatusBar:
    case PE_PanelTipLabel:
      if (draw_box()) return;
      break;
    case PE_FrameMenu:
    case PE_FrameStatusBarItem:
    case PE_PanelScrollAreaCorner:
    case PE_PanelMenuBar:
      return;
    case PE_PanelLineEdit:
      if (IsEmbedded(widget) || draw_box()) return;
      break;
    case PE_Frame:
      if (const std::optional<Box> box = BoxOf(widget, option->state, colors_)) return;
      break;
    case PE_PanelButtonCommand:
    case PE_PanelButtonTool:
      if (const std::optional<Box> box = BoxOf(widget, option->state, colors_)) {
        box->Draw(painter, option->rect.marginsAdded(box->margin));
        return;
      }
      break;
    case PE_FrameFocusRect:
      if (HidesFocusRect(widget)) return;
      break;
    case PE_PanelItemViewRow:
      if (qobject_cast<const QTableView*>(widget) != nullptr) return;
      break;
    case PE_PanelItemViewItem:
      if (const auto box = ViewItemBox(widget, option->state, colors_)) {
        box->Draw(painter, option->rect);
        return;
      }
      break;
    case PE_IndicatorHeaderArrow:
      if (const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option)) {
        // Qt calls the indicator of an ascending order SortDown. Here it points upwards.
        Chevron(header->sortIndicator == QStyleOptionHeader::SortDown)
            .paint(painter, option->rect.adjusted(0, 0, -1, 0));
        return;
      }
      break;
    default:
      break;
  }
  QProxyStyle::drawPrimitive(element, option, painter, widget);
}

void FlatStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                            const QWidget* widget) const {
  switch (element) {
    case CE_PushButton:
    case CE_ProgressBar:
    case CE_Header:
    case CE_TabBarTab:
      // Fusion draws these as a whole; the parts below are the style's own.
      QCommonStyle::drawControl(element, option, painter, widget);
      return;
    case CE_PushButtonBevel:
      if (const std::optional<Box> box = BoxOf(widget, option->state, colors_)) {
        box->Draw(painter, option->rect);
        return;
      }
      break;
    case CE_PushButtonLabel:
      if (const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option))
        return DrawPushButtonLabel(*button, painter, widget);
      break;
    case CE_ToolBar:
      return;
    case CE_MenuEmptyArea:
      return;
    case CE_MenuBarEmptyArea:
      painter->fillRect(option->rect, colors_.panel);
      return;
    case CE_MenuItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option))
        return qobject_cast<const QComboBox*>(widget) == nullptr
                   ? DrawMenuItem(*item, painter, widget)
                   : DrawComboItem(*item, painter, widget);
      break;
    case CE_MenuBarItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option))
        return DrawMenuBarItem(*item, painter, widget);
      break;
    case CE_ComboBoxLabel:
      if (const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option)) {
        DrawComboLabel(*combo, painter, widget);
        return;
      }
      break;
    case CE_HeaderSection:
      HeaderSectionBox(colors_).Draw(painter, option->rect);
      return;
    case CE_HeaderLabel:
      if (const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option))
        return DrawHeaderLabel(*header, painter, widget);
      break;
    case CE_HeaderEmptyArea:
      painter->fillRect(option->rect, colors_.panel);
      return;
    case CE_ProgressBarGroove:
      if (const std::optional<Box> box = BoxOf(widget, option->state, colors_)) {
        box->Draw(painter, option->rect.marginsAdded(box->margin));
        return;
      }
      break;
    case CE_ProgressBarContents:
      if (const auto* bar = qstyleoption_cast<const QStyleOptionProgressBar*>(option))
        return DrawProgress(*bar, painter, widget);
      break;
    case CE_ProgressBarLabel:
      if (const auto* bar = qstyleoption_cast<const QStyleOptionProgressBar*>(option)) {
        drawItemText(painter, bar->rect, bar->textAlignment | Qt::TextSingleLine, bar->palette,
                     StateFlags(bar->state).enabled, bar->text, QPalette::Text);
        return;
      }
      break;
    case CE_ScrollBarAddPage:
    case CE_ScrollBarSubPage:
      return;
    case CE_ScrollBarSlider:
      ScrollHandleBox(option->state, colors_).Draw(painter, option->rect);
      return;
    case CE_TabBarTabShape:
      TabBox(widget, option->state, colors_).Draw(painter, option->rect);
      return;
    case CE_TabBarTabLabel:
      if (const auto* tab = qstyleoption_cast<const QStyleOptionTab*>(option))
        return DrawTabLabel(*tab, painter, widget);
      break;
    case CE_ItemViewItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option))
        return DrawViewItem(*item, painter, widget);
      break;
    case CE_ShapedFrame:
      if (const std::optional<Box> box = BoxOf(widget, option->state, colors_)) {
        if (qobject_cast<const QAbstractScrollArea*>(widget) != nullptr)
          box->Draw(painter, option->rect);
        return;
      }
      break;
    default:
      break;
  }
  QProxyStyle::drawControl(element, option, painter, widget);
}

void FlatStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                   QPainter* painter, const QWidget* widget) const {
  const std::optional<Box> box = BoxOf(widget, option->state, colors_);
  switch (control) {
    case CC_ComboBox:
      if (box) {
        constexpr int kArrow = 9;
        box->Draw(painter, option->rect);
        const QRect around = subControlRect(control, option, SC_ComboBoxArrow, widget);
        Chevron(false).paint(
            painter, alignedRect(option->direction, Qt::AlignCenter, {kArrow, kArrow}, around));
        return;
      }
      break;
    case CC_SpinBox:
      if (box) {
        box->Draw(painter, option->rect);
        return;
      }
      break;
    case CC_ToolButton:
      if (const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
          button && box)
        return DrawToolButton(*button, *box, painter, widget);
      break;
    case CC_ScrollBar:
      QCommonStyle::drawComplexControl(control, option, painter, widget);
      return;
    default:
      break;
  }
  QProxyStyle::drawComplexControl(control, option, painter, widget);
}

void FlatStyle::DrawToolButton(const QStyleOptionToolButton& button, const Box& box,
                               QPainter* painter, const QWidget* widget) const {
  box.Draw(painter, button.rect);
  QStyleOptionToolButton inside(button);
  inside.rect = box.Contents(button.rect);
  if (const auto* owner = qobject_cast<const QToolButton*>(widget))
    inside.palette.setColor(QPalette::ButtonText, TextOf(*owner, button.state, colors_));
  QCommonStyle::drawControl(CE_ToolButtonLabel, &inside, painter, widget);
  if ((button.features & QStyleOptionToolButton::HasMenu) == 0 ||
      (button.features & QStyleOptionToolButton::MenuButtonPopup) != 0)
    return;
  const QRect room = box.PaddingRect(button.rect);
  constexpr int kArrow = 8, kFromRight = 10;
  if (HasRole(widget, "chip")) {
    QRect arrow =
        alignedRect(button.direction, Qt::AlignRight | Qt::AlignVCenter, {kArrow, kArrow}, room);
    arrow.translate(button.direction == Qt::LeftToRight ? -kFromRight : kFromRight, 0);
    Chevron(false).paint(painter, arrow);
  } else {
    constexpr int kPlainArrow = 13;
    inside.rect = alignedRect(button.direction, Qt::AlignRight | Qt::AlignBottom,
                              {kPlainArrow, kPlainArrow}, room);
    QProxyStyle::drawPrimitive(PE_IndicatorArrowDown, &inside, painter, widget);
  }
}

void FlatStyle::DrawPushButtonLabel(const QStyleOptionButton& button, QPainter* painter,
                                    const QWidget* widget) const {
  QStyleOptionButton own(button);
  if (const auto* owner = qobject_cast<const QPushButton*>(widget))
    own.palette.setColor(QPalette::ButtonText, TextOf(*owner, button.state, colors_));
  if (HasRole(widget, "wide")) {
    drawItemText(painter, button.rect, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextShowMnemonic,
                 own.palette, StateFlags(button.state).enabled, button.text, QPalette::ButtonText);
    return;
  }
  const QFont before = painter->font();
  if (HasRole(widget, "link") && StateFlags(button.state).hover) {
    QFont font = before;
    font.setUnderline(true);
    painter->setFont(font);
  }
  QCommonStyle::drawControl(CE_PushButtonLabel, &own, painter, widget);
  painter->setFont(before);
}

void FlatStyle::DrawComboLabel(const QStyleOptionComboBox& combo, QPainter* painter,
                               const QWidget* widget) const {
  constexpr int kAfterIcon = 6;
  const bool enabled = StateFlags(combo.state).enabled;
  QRect room = subControlRect(CC_ComboBox, &combo, SC_ComboBoxEditField, widget);
  painter->save();
  painter->setClipRect(room);
  if (!combo.currentIcon.isNull()) {
    const QSize size(combo.iconSize.width(), room.height());
    combo.currentIcon.paint(
        painter, alignedRect(combo.direction, Qt::AlignLeft | Qt::AlignVCenter, size, room),
        Qt::AlignCenter, enabled ? QIcon::Normal : QIcon::Disabled);
    const int shift = combo.iconSize.width() + kAfterIcon;
    room.translate(combo.direction == Qt::RightToLeft ? -shift : shift, 0);
  }
  if (!combo.currentText.isEmpty() && !combo.editable)
    drawItemText(painter, room, static_cast<int>(combo.textAlignment), combo.palette, enabled,
                 combo.currentText, QPalette::Text);
  painter->restore();
}

// A row of the pop-up of a combo box.
void FlatStyle::DrawComboItem(const QStyleOptionMenuItem& item, QPainter* painter,
                              const QWidget* widget) const {
  constexpr int kLighter = 115;
  QStyleOptionMenuItem own(item);
  // Fusion draws the text of a disabled row a second time in this colour, shifted by a pixel.
  own.palette.setColor(QPalette::Light, colors_.raised.lighter(kLighter));
  own.palette.setColor(QPalette::HighlightedText, colors_.on_accent);
  QProxyStyle::drawControl(CE_MenuItem, &own, painter, widget);
}

void FlatStyle::DrawMenuIcon(const QStyleOptionMenuItem& item, QPainter* painter) const {
  const StateFlags state(item.state);
  const QIcon::Mode mode = !state.enabled   ? QIcon::Disabled
                           : state.selected ? QIcon::Active
                                            : QIcon::Normal;
  const int extent = pixelMetric(PM_SmallIconSize, &item, nullptr);
  const bool on = item.checkType != QStyleOptionMenuItem::NotCheckable && item.checked;
  const QPixmap picture =
      item.icon.pixmap(QSize(extent, extent), painter->device()->devicePixelRatio(), mode,
                       on ? QIcon::On : QIcon::Off);
  const QRect room = alignedRect(item.direction, Qt::AlignLeft | Qt::AlignVCenter,
                                 picture.deviceIndependentSize().toSize(), item.rect);
  painter->drawPixmap(room.topLeft(), picture);
}

void FlatStyle::DrawMenuItem(const QStyleOptionMenuItem& item, QPainter* painter,
                             const QWidget* widget) const {
  if (item.menuItemType == QStyleOptionMenuItem::Separator)
    return MenuSeparatorBox(colors_).Draw(painter, item.rect);
  const bool enabled = StateFlags(item.state).enabled;
  const Box box = MenuItemBox(item.state, colors_);
  box.Draw(painter, item.rect);
  const QColor color = enabled ? colors_.text : colors_.faint;
  QStyleOptionMenuItem part(item);
  for (const QPalette::ColorRole role :
       {QPalette::ButtonText, QPalette::Text, QPalette::WindowText, QPalette::HighlightedText})
    part.palette.setColor(role, color);
  int offset = item.maxIconWidth;
  if (!item.icon.isNull()) {
    DrawMenuIcon(item, painter);
  } else if (item.menuHasCheckableItems) {
    constexpr int kFromLeft = 6;
    offset = std::max(offset, kCheckMark);
    if (item.checkType != QStyleOptionMenuItem::NotCheckable && item.checked) {
      part.rect = alignedRect(item.direction, Qt::AlignLeft | Qt::AlignVCenter,
                              {kCheckMark, kCheckMark}, item.rect);
      part.rect.translate(item.direction == Qt::LeftToRight ? kFromLeft : -kFromLeft, 0);
      part.state |= State_On;
      drawPrimitive(PE_IndicatorMenuCheckMark, &part, painter, widget);
    }
  }
  const QRect contents = box.Contents(item.rect);
  QRect text = contents.adjusted(offset, 0, 0, 0);
  text.setWidth(text.width() - item.reservedShortcutWidth);
  painter->save();
  painter->setFont(item.font);
  painter->setPen(color);
  constexpr int kFlags = Qt::AlignLeft | Qt::AlignVCenter | Qt::TextShowMnemonic |
                         Qt::TextDontClip | Qt::TextSingleLine;
  const qsizetype tab = item.text.indexOf(QLatin1Char('\t'));
  if (tab >= 0) {
    const QRect key(text.topRight(), QPoint(contents.right(), text.bottom()));
    painter->drawText(visualRect(item.direction, contents, key), kFlags, item.text.mid(tab + 1));
  }
  painter->drawText(visualRect(item.direction, item.rect, text), kFlags, item.text.left(tab));
  painter->restore();
  if (item.menuItemType != QStyleOptionMenuItem::SubMenu) return;
  constexpr int kArrow = 13;
  part.rect =
      alignedRect(item.direction, Qt::AlignRight | Qt::AlignVCenter, {kArrow, kArrow}, item.rect);
  drawPrimitive(item.direction == Qt::RightToLeft ? PE_IndicatorArrowLeft : PE_IndicatorArrowRight,
                &part, painter, widget);
}

void FlatStyle::DrawMenuBarItem(const QStyleOptionMenuItem& item, QPainter* painter,
                                const QWidget* widget) const {
  const Box box = MenuBarItemBox(item.state, colors_);
  painter->fillRect(item.rect, colors_.panel);
  box.Draw(painter, item.rect);
  QStyleOptionMenuItem inside(item);
  inside.rect = box.Contents(item.rect);
  inside.palette.setColor(QPalette::ButtonText,
                          StateFlags(item.state).selected ? colors_.text : colors_.dim);
  QCommonStyle::drawControl(CE_MenuBarItem, &inside, painter, widget);
}

void FlatStyle::DrawTabLabel(const QStyleOptionTab& tab, QPainter* painter,
                             const QWidget* widget) const {
  QStyleOptionTab inside(tab);
  inside.rect = TabBox(widget, tab.state, colors_).Contents(tab.rect);
  inside.palette.setColor(widget != nullptr ? widget->foregroundRole() : QPalette::WindowText,
                          TabText(tab.state, colors_));
  const QFont before = painter->font();
  if (StateFlags(tab.state).selected) {
    QFont font = before;
    font.setWeight(IsDocumentBar(widget) ? QFont::Normal : QFont::DemiBold);
    painter->setFont(font);
  }
  QCommonStyle::drawControl(CE_TabBarTabLabel, &inside, painter, widget);
  painter->setFont(before);
}

void FlatStyle::DrawHeaderLabel(const QStyleOptionHeader& header, QPainter* painter,
                                const QWidget* widget) const {
  QStyleOptionHeader own(header);
  // Room for the sort arrow, whether the section has one or not.
  if (own.orientation == Qt::Horizontal)
    own.rect.setWidth(own.rect.width() - kSortArrow - 1);
  else
    own.rect.setHeight(own.rect.height() - kSortArrow);
  own.palette.setColor(QPalette::ButtonText,
                       StateFlags(header.state).hover ? colors_.text : colors_.dim);
  QCommonStyle::drawControl(CE_HeaderLabel, &own, painter, widget);
}

void FlatStyle::DrawViewItem(const QStyleOptionViewItem& item, QPainter* painter,
                             const QWidget* widget) const {
  QStyleOptionViewItem own(item);
  if (HidesFocusRect(widget))  // the rows of a disabled view stay readable
    own.palette.setBrush(QPalette::Disabled, QPalette::Text,
                         own.palette.brush(QPalette::Active, QPalette::Text));
  if (!ViewItemBox(widget, item.state, colors_)) {
    if (IsComboList(widget)) {
      own.palette.setColor(QPalette::Highlight, colors_.hover);
      own.palette.setColor(QPalette::HighlightedText, colors_.text);
    }
    QProxyStyle::drawControl(CE_ItemViewItem, &own, painter, widget);
    return;
  }
  if (StateFlags(item.state).selected)
    for (const QPalette::ColorRole role : {QPalette::HighlightedText, QPalette::Text})
      own.palette.setColor(role, colors_.text);
  QCommonStyle::drawControl(CE_ItemViewItem, &own, painter, widget);
}

void FlatStyle::DrawProgress(const QStyleOptionProgressBar& bar, QPainter* painter,
                             const QWidget* widget) const {
  const Box chunk = ChunkBox(colors_);
  const QRect room = bar.rect;
  const bool vertical = (bar.state & State_Horizontal) == 0;
  if (room.isEmpty() || vertical) {
    QProxyStyle::drawControl(CE_ProgressBarContents, &bar, painter, widget);
    return;
  }
  painter->save();
  painter->setClipRect(room);
  if (bar.minimum ==
      bar.maximum) {  // half of the bar moves to the right and comes back at the left
    const int width = room.width() / 2;
    const auto step = static_cast<int>(busy_since_.elapsed() * kBusySpeed / kMsPerSecond);
    const int x = room.left() + step % room.width();
    for (const int left : {x, x - room.width()})
      chunk.Draw(painter, {left, room.top(), width, room.height()});
    auto* owner = const_cast<QProgressBar*>(qobject_cast<const QProgressBar*>(widget));
    if (owner != nullptr && !busy_bars_.contains(owner)) {
      busy_bars_ << owner;
      busy_timer_.start();
    }
  } else {
    const double share = static_cast<double>(qint64{bar.progress} - bar.minimum) /
                         static_cast<double>(qint64{bar.maximum} - bar.minimum);
    const int width = static_cast<int>(room.width() * share);
    const bool reverse = (bar.direction == Qt::RightToLeft) != bar.invertedAppearance;
    const int left = reverse ? room.right() + 1 - width : room.left();
    if (width > 0) chunk.Draw(painter, {left, room.top(), width, room.height()});
  }
  painter->restore();
}

void FlatStyle::MoveBusyBars() {
  QList<QPointer<QProgressBar>> bars;
  bars.swap(busy_bars_);
  for (const QPointer<QProgressBar>& bar : bars) {
    if (bar == nullptr || !bar->isVisible() || bar->minimum() != bar->maximum()) continue;
    busy_bars_ << bar;
    bar->update();
  }
  if (busy_bars_.isEmpty()) busy_timer_.stop();
}

}  // namespace vramscope::ui
