// The window's style: Qt's Fusion style with flat surfaces, one accent colour and thin lines. It
// takes the colours from the theme when it draws, so that a change of the theme only has to paint
// the window again: no widget is polished or laid out anew.
//
//   auto* style = new FlatStyle;  // owned by the application
//   QApplication::setStyle(style);
//   style->setTheme(theme);       // before QApplication::setPalette(), which paints everything
//
// What a widget looks like depends on its class, on its object name (surfaces such as "header") and
// on two dynamic properties. "role": for labels "heading", "group", "body", "label", "dim" or
// "faint"; for tool buttons "chip" or "quiet"; for push buttons "primary", "wide" or "link".
// "tone": "accent", "good", "bad", "dim" or "faint" replace the role's colour. Whoever changes a
// property of a visible widget calls polish() with it, as SetTone() does. No widget may have a
// style sheet of its own, because Qt would then draw the widget. UI thread only.
#pragma once

#include <QElapsedTimer>
#include <QIcon>
#include <QList>
#include <QPointer>
#include <QProxyStyle>
#include <QTimer>

#include "ui/shell/flat_box.h"

class QProgressBar;
class QStyleOptionButton;
class QStyleOptionComboBox;
class QStyleOptionHeader;
class QStyleOptionMenuItem;
class QStyleOptionProgressBar;
class QStyleOptionTab;
class QStyleOptionToolButton;
class QStyleOptionViewItem;

namespace vramscope::ui {

class FlatStyle : public QProxyStyle {
  Q_OBJECT
 public:
  FlatStyle();
  void setTheme(const timeline::Theme& theme) { colors_ = StyleColors(theme); }
  const StyleColors& colors() const { return colors_; }

  using QProxyStyle::polish;
  void polish(QWidget* widget) override;

  int pixelMetric(PixelMetric metric, const QStyleOption* option,
                  const QWidget* widget) const override;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override;
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                         const QWidget* widget) const override;
  QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                       const QWidget* widget) const override;
  QRect subElementRect(SubElement element, const QStyleOption* option,
                       const QWidget* widget) const override;

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                   const QWidget* widget) const override;
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                          QPainter* painter, const QWidget* widget) const override;

 private:
  QSize MenuItemSize(const QStyleOptionMenuItem& item, const QSize& size) const;
  QSize HeaderSectionSize(const QStyleOptionHeader& header, const QWidget* widget) const;
  QSize TabSize(const QStyleOptionTab& tab, const QSize& size, const QWidget* widget) const;
  QRect ScrollBarRect(const QStyleOptionComplex& option, SubControl part,
                      const QWidget* widget) const;

  void DrawComboLabel(const QStyleOptionComboBox& combo, QPainter* painter,
                      const QWidget* widget) const;
  void DrawComboItem(const QStyleOptionMenuItem& item, QPainter* painter,
                     const QWidget* widget) const;
  void DrawMenuItem(const QStyleOptionMenuItem& item, QPainter* painter,
                    const QWidget* widget) const;
  void DrawMenuIcon(const QStyleOptionMenuItem& item, QPainter* painter) const;
  void DrawMenuBarItem(const QStyleOptionMenuItem& item, QPainter* painter,
                       const QWidget* widget) const;
  void DrawPushButtonLabel(const QStyleOptionButton& button, QPainter* painter,
                           const QWidget* widget) const;
  void DrawToolButton(const QStyleOptionToolButton& button, const Box& box, QPainter* painter,
                      const QWidget* widget) const;
  void DrawTabLabel(const QStyleOptionTab& tab, QPainter* painter, const QWidget* widget) const;
  void DrawHeaderLabel(const QStyleOptionHeader& header, QPainter* painter,
                       const QWidget* widget) const;
  void DrawViewItem(const QStyleOptionViewItem& item, QPainter* painter,
                    const QWidget* widget) const;
  void DrawProgress(const QStyleOptionProgressBar& bar, QPainter* painter,
                    const QWidget* widget) const;
  void MoveBusyBars();

  const QIcon& Chevron(bool up) const { return (up ? chevron_up_ : chevron_)[colors_.dark]; }

  StyleColors colors_;
  QIcon chevron_[2], chevron_up_[2];  // indexed by whether the theme is dark
  // Progress bars without a known end, and the timer that moves them.
  mutable QList<QPointer<QProgressBar>> busy_bars_;
  mutable QTimer busy_timer_;
  QElapsedTimer busy_since_;
};

}  // namespace vramscope::ui
