// The style's sizes and positions; flat_style_paint.cpp draws.
#include "ui/shell/flat_style.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStyleFactory>
#include <QStyleOption>
#include <QTabBar>
#include <QTabWidget>
#include <QToolBar>
#include <QToolButton>
#include <algorithm>

#include "ui/shell/flat_rules.h"

namespace vramscope::ui {
namespace {

constexpr int kBusyFrame = 33;  // milliseconds between two pictures of a moving progress bar

bool IsField(const QWidget* widget) {
  return qobject_cast<const QLineEdit*>(widget) != nullptr ||
         qobject_cast<const QComboBox*>(widget) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(widget) != nullptr;
}

QSize FieldContents(QSize size) { return size.expandedTo({0, kFieldContents}); }

// A field's arrow and the space around it, at the right edge.
QRect DropDownRect(const Box& box, const QRect& rect) {
  const QRect inside = box.PaddingRect(rect);
  return {inside.right() - kDropDown + 1, inside.top(), kDropDown, inside.height()};
}

}  // namespace

FlatStyle::FlatStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {
  for (const bool dark : {false, true}) {
    const QString mode = dark ? QStringLiteral("dark") : QStringLiteral("light");
    chevron_[dark] = QIcon(QStringLiteral(":/vramscope/chevron-%1.svg").arg(mode));
    chevron_up_[dark] = QIcon(QStringLiteral(":/vramscope/chevron-up-%1.svg").arg(mode));
  }
  busy_since_.start();
  busy_timer_.setInterval(kBusyFrame);
  connect(&busy_timer_, &QTimer::timeout, this, &FlatStyle::MoveBusyBars);
}

void FlatStyle::polish(QWidget* widget) {
  QProxyStyle::polish(widget);
  if (auto* label = qobject_cast<QLabel*>(widget)) {
    const std::optional<QPalette::ColorRole> role = LabelColorRole(*label);
    if (role && label->foregroundRole() != *role) label->setForegroundRole(*role);
  }
  if (IsField(widget) && !IsEmbedded(widget)) {
    widget->setAttribute(Qt::WA_Hover);
    if (widget->minimumHeight() < kFieldHeight) widget->setMinimumHeight(kFieldHeight);
  }
  if (qobject_cast<QTabBar*>(widget) != nullptr) {
    widget->setAttribute(Qt::WA_Hover);
    widget->setAutoFillBackground(true);  // covers the line below the tabs of documents
  }
  if (qobject_cast<QPushButton*>(widget) != nullptr) widget->setMouseTracking(true);
  if (auto* header = qobject_cast<QHeaderView*>(widget)) {
    header->setAttribute(Qt::WA_Hover);
    header->viewport()->setAttribute(Qt::WA_Hover);
    header->viewport()->setMouseTracking(true);
    header->viewport()->setBackgroundRole(QPalette::Window);
  }
  if (qobject_cast<QPlainTextEdit*>(widget) != nullptr &&
      widget->objectName() == QLatin1String("programOutput"))
    static_cast<QPlainTextEdit*>(widget)->viewport()->setAutoFillBackground(false);
  // A frame measured its border in the constructor of its base class, before its class and name
  // were known.
  if (qobject_cast<QFrame*>(widget) != nullptr && BoxOf(widget, State_None, colors_)) {
    QEvent changed(QEvent::StyleChange);
    QCoreApplication::sendEvent(widget, &changed);
  }
}

int FlatStyle::pixelMetric(PixelMetric metric, const QStyleOption* option,
                           const QWidget* widget) const {
  const auto box = [&] { return BoxOf(widget, State_None, colors_); };
  switch (metric) {
    case PM_DockWidgetSeparatorExtent:
      return 1;
    case PM_ScrollBarExtent:
      return kScrollBar;
    case PM_ScrollBarSliderMin:
      return kLeastHandle;
    case PM_TabBarTabHSpace:
    case PM_TabBarTabVSpace:
    case PM_TabBarTabShiftHorizontal:
    case PM_TabBarTabShiftVertical:
    case PM_TabBarBaseOverlap:
      return 0;
    case PM_TabBarScrollButtonWidth:
      return kTabScrollers;
    case PM_ToolBarFrameWidth:
    case PM_ToolBarItemMargin:
    case PM_ToolBarItemSpacing:
      return 0;
    case PM_ButtonMargin:
      if (qobject_cast<const QAbstractButton*>(widget) != nullptr && box()) return 0;
      break;
    case PM_MenuButtonIndicator:
      if (qobject_cast<const QToolButton*>(widget) != nullptr && box()) return 0;
      break;
    case PM_DefaultFrameWidth:
      if (const std::optional<Box> own = box()) return own->border.left();
      break;
    case PM_ToolTipLabelFrameWidth:
      if (const std::optional<Box> own = box()) return own->border.left() + own->padding.left();
      break;
    case PM_MenuPanelWidth:
    case PM_MenuBarPanelWidth:
      if (const std::optional<Box> own = box()) return own->border.left();
      break;
    case PM_MenuHMargin:
    case PM_MenuBarHMargin:
      if (const std::optional<Box> own = box()) return own->padding.left();
      break;
    case PM_MenuVMargin:
    case PM_MenuBarVMargin:
      if (const std::optional<Box> own = box()) return own->padding.top();
      break;
    default:
      break;
  }
  return QProxyStyle::pixelMetric(metric, option, widget);
}

int FlatStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                         QStyleHintReturn* data) const {
  // The list in the pop-up has its own border.
  if (hint == SH_ComboBox_PopupFrameStyle) return QFrame::NoFrame;
  return QProxyStyle::styleHint(hint, option, widget, data);
}

QSize FlatStyle::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                                  const QWidget* widget) const {
  const State state = option != nullptr ? option->state : State_None;
  switch (type) {
    case CT_ToolButton:
      if (const auto box = BoxOf(widget, state, colors_)) return box->Around(size + QSize(3, 3));
      break;
    case CT_PushButton:
      if (const auto box = BoxOf(widget, state, colors_)) return box->Around(size);
      break;
    case CT_ComboBox:
      if (const auto box = BoxOf(widget, state, colors_))
        return box->Around(FieldContents(size) + QSize(kDropDown + 2, 0));
      break;
    case CT_SpinBox:
      if (const auto box = BoxOf(widget, state, colors_)) return box->Around(FieldContents(size));
      break;
    case CT_LineEdit:
      if (widget != nullptr && qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) != nullptr)
        return size;  // the spin box has the padding and the border
      if (const auto box = BoxOf(widget, state, colors_)) return box->Around(FieldContents(size));
      break;
    case CT_Menu:
    case CT_MenuBar:
    case CT_ScrollBar:
      return size;
    case CT_MenuBarItem:
      return MenuBarItemBox(state, colors_).Around(size);
    case CT_MenuItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option)) {
        if (qobject_cast<const QMenu*>(widget) != nullptr) return MenuItemSize(*item, size);
        if (IsField(widget))  // a row in the pop-up of a combo box
          return QProxyStyle::sizeFromContents(type, option, FieldContents(size), widget);
      }
      break;
    case CT_HeaderSection:
      if (const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option))
        return HeaderSectionSize(*header, widget);
      break;
    case CT_ProgressBar: {
      const QSize own = QProxyStyle::sizeFromContents(type, option, size, widget);
      const auto box = BoxOf(widget, state, colors_);
      return box ? box->Around(own) : own;
    }
    case CT_TabBarTab:
      if (const auto* tab = qstyleoption_cast<const QStyleOptionTab*>(option))
        return TabSize(*tab, size, widget);
      break;
    case CT_ItemViewItem: {
      const QSize own = QProxyStyle::sizeFromContents(type, option, size, widget);
      const auto box = ViewItemBox(widget, state, colors_);
      return box ? box->Around(own) : own;
    }
    default:
      break;
  }
  return QProxyStyle::sizeFromContents(type, option, size, widget);
}

QSize FlatStyle::MenuItemSize(const QStyleOptionMenuItem& item, const QSize& size) const {
  if (item.menuItemType == QStyleOptionMenuItem::Separator) {
    const Box box = MenuSeparatorBox(colors_);
    return {size.width(), 1 + box.margin.top() + box.margin.bottom()};
  }
  constexpr int kGap = 4, kBeforeKey = 12;
  int width = size.width();
  if (item.text.contains(QLatin1Char('\t'))) width += kBeforeKey;
  if (!item.icon.isNull()) {
    const int extent = pixelMetric(PM_SmallIconSize, &item, nullptr);
    width +=
        std::max(item.maxIconWidth, item.icon.actualSize(QSize(extent, extent)).width()) + kGap;
  } else if (item.menuHasCheckableItems) {
    width += std::max(item.maxIconWidth, kCheckMark) + kGap;
  } else {
    width += item.maxIconWidth;
  }
  return MenuItemBox(item.state, colors_).Around({width, size.height()});
}

QSize FlatStyle::HeaderSectionSize(const QStyleOptionHeader& header, const QWidget* widget) const {
  const QSize least = QProxyStyle::sizeFromContents(CT_HeaderSection, &header, QSize(), widget);
  const int margin = pixelMetric(PM_HeaderMargin, &header, widget);
  const int icon = header.icon.isNull() ? 0 : pixelMetric(PM_SmallIconSize, &header, widget);
  const QSize text = header.fontMetrics.size(0, header.text);
  const QSize own(
      (icon > 0 ? margin + icon : 0) + (header.text.isNull() ? 0 : margin) + text.width() + margin,
      std::max(icon, text.height()) + 2 * margin);
  return HeaderSectionBox(colors_).Around(least.expandedTo(own));
}

QSize FlatStyle::TabSize(const QStyleOptionTab& tab, const QSize& size,
                         const QWidget* widget) const {
  constexpr int kAroundIcon = 12;
  QSize own = size;
  if (!tab.icon.isNull()) own.rwidth() += kAroundIcon;
  if (StateFlags(tab.state).selected && widget != nullptr) {  // in bold type
    QFont font = widget->font();
    font.setWeight(IsDocumentBar(widget) ? QFont::Normal : QFont::DemiBold);
    const QFontMetrics metrics(font);
    const QSize text = metrics.size(Qt::TextShowMnemonic, tab.text);
    own.rwidth() += text.width() - tab.fontMetrics.size(Qt::TextShowMnemonic, tab.text).width();
    own.setHeight(std::max(own.height(), text.height()));
  }
  if (IsDocumentBar(widget)) own.setWidth(std::min(own.width(), kWidestDocumentTab));
  return TabBox(widget, tab.state, colors_).Around(own);
}

QRect FlatStyle::subControlRect(ComplexControl control, const QStyleOptionComplex* option,
                                SubControl part, const QWidget* widget) const {
  const auto box = [&] { return BoxOf(widget, option->state, colors_); };
  switch (control) {
    case CC_ComboBox:
      if (const std::optional<Box> own = box()) {
        if (part == SC_ComboBoxFrame) return own->BorderRect(option->rect);
        const QRect arrow = DropDownRect(*own, option->rect);
        if (part == SC_ComboBoxEditField)
          return visualRect(option->direction, option->rect,
                            own->Contents(option->rect).adjusted(0, 0, -arrow.width(), 0));
        if (part == SC_ComboBoxArrow) return visualRect(option->direction, option->rect, arrow);
      }
      break;
    case CC_SpinBox:
      if (const std::optional<Box> own = box()) {
        if (part == SC_SpinBoxFrame) return own->BorderRect(option->rect);
        if (part == SC_SpinBoxEditField) return own->Contents(option->rect);
        if (part == SC_SpinBoxUp || part == SC_SpinBoxDown) return {};
      }
      break;
    case CC_ToolButton:
      if (part == SC_ToolButton)
        if (const std::optional<Box> own = box()) return own->BorderRect(option->rect);
      break;
    case CC_ScrollBar:
      return ScrollBarRect(*option, part, widget);
    default:
      break;
  }
  return QProxyStyle::subControlRect(control, option, part, widget);
}

QRect FlatStyle::ScrollBarRect(const QStyleOptionComplex& option, SubControl part,
                               const QWidget* widget) const {
  const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(&option);
  if (bar == nullptr) return QProxyStyle::subControlRect(CC_ScrollBar, &option, part, widget);
  const QRect whole = option.rect;
  if (part == SC_ScrollBarGroove) return whole;
  const bool across = bar->orientation == Qt::Horizontal;
  const int room = across ? whole.width() : whole.height();
  int length = room;
  if (bar->maximum != bar->minimum) {
    const auto range = static_cast<qint64>(bar->maximum) - bar->minimum;
    length = static_cast<int>(qint64{bar->pageStep} * room / (range + bar->pageStep));
    length = std::min(std::max(length, kLeastHandle), room);
  }
  const int start = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition,
                                            room - length, bar->upsideDown);
  QRect handle = across ? QRect(whole.left() + start, whole.top(), length, whole.height())
                        : QRect(whole.left(), whole.top() + start, whole.width(), length);
  switch (part) {
    case SC_ScrollBarSlider:
      break;
    case SC_ScrollBarSubPage:
      handle = QRect(whole.topLeft(), across ? handle.bottomLeft() : handle.topRight());
      break;
    case SC_ScrollBarAddPage:
      handle = QRect(across ? handle.topRight() : handle.bottomLeft(), whole.bottomRight());
      break;
    default:
      return {};  // there are no buttons
  }
  return visualRect(option.direction, whole, handle);
}

QRect FlatStyle::subElementRect(SubElement element, const QStyleOption* option,
                                const QWidget* widget) const {
  const auto box = [&] { return BoxOf(widget, option->state, colors_); };
  const QRect rect = option->rect;
  switch (element) {
    case SE_PushButtonBevel:
      if (const std::optional<Box> own = box()) return own->BorderRect(rect);
      break;
    case SE_PushButtonContents:
    case SE_PushButtonFocusRect:
    case SE_LineEditContents:
    case SE_FrameContents:
    case SE_ShapedFrameContents:
      if (const std::optional<Box> own = box())
        return visualRect(option->direction, rect, own->Contents(rect));
      break;
    case SE_ItemViewItemText:
    case SE_ItemViewItemDecoration:
    case SE_ItemViewItemCheckIndicator:
    case SE_ItemViewItemFocusRect:
      if (const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option))
        if (const auto own = ViewItemBox(widget, option->state, colors_)) {
          QStyleOptionViewItem inside(*item);
          inside.rect = own->Contents(rect);
          return QCommonStyle::subElementRect(element, &inside, widget);
        }
      break;
    case SE_HeaderArrow:
      // Centred at the top of the section, with a pixel on its right.
      return alignedRect(option->direction, Qt::AlignHCenter | Qt::AlignTop,
                         {kSortArrow + 1, kSortArrow}, rect);
    case SE_HeaderLabel:
      return HeaderSectionBox(colors_).Contents(rect);
    case SE_ProgressBarGroove:
      if (const std::optional<Box> own = box()) return own->BorderRect(rect);
      break;
    case SE_ProgressBarContents:
      if (const std::optional<Box> own = box()) return own->Contents(rect);
      break;
    case SE_ProgressBarLabel:
      if (const auto* bar = qstyleoption_cast<const QStyleOptionProgressBar*>(option))
        return alignedRect(Qt::LeftToRight, bar->textAlignment, bar->fontMetrics.size(0, bar->text),
                           rect);
      break;
    case SE_TabWidgetTabContents:
      // A pixel below the tabs stays free, except below the tabs of a dock.
      if (widget != nullptr && widget->objectName() != QLatin1String("tables"))
        return QCommonStyle::subElementRect(SE_TabWidgetTabPane, option, widget)
            .adjusted(0, 1, 0, 0);
      break;
    case SE_TabBarTabText:
      if (const auto* tab = qstyleoption_cast<const QStyleOptionTab*>(option)) {
        const auto* bar = qobject_cast<const QTabBar*>(widget);
        QStyleOptionTab inside(*tab);
        inside.rect =
            TabBox(widget, tab->state, colors_)
                .Contents(bar != nullptr && tab->tabIndex != -1 ? bar->tabRect(tab->tabIndex)
                                                                : rect);
        return QCommonStyle::subElementRect(element, &inside, widget);
      }
      break;
    case SE_TabBarTabLeftButton:
    case SE_TabBarTabRightButton:
    case SE_TabBarScrollLeftButton:
    case SE_TabBarScrollRightButton:
      return QCommonStyle::subElementRect(element, option, widget);
    default:
      break;
  }
  return QProxyStyle::subElementRect(element, option, widget);
}

}  // namespace vramscope::ui
