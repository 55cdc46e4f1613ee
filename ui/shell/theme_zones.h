// Applies the theme's style sheet to each part of the windows separately: to a visible part
// immediately, to a hidden part when it becomes visible. This saves time, because Qt needs a third
// of a millisecond to polish a widget for a style sheet, and 80 % of the window's widgets are on
// hidden pages.
//
//   ThemeZones::Instance().setSheet(MakeStyleSheet(theme));
//
// A frame is a widget that only arranges other widgets: the main window, docks, stacks, tabs, and
// plain widgets with the property kThemeFrame. Frames have no style sheet; the palette and
// FlatStyle determine how they are drawn. A zone is an outermost widget that is not a frame: the
// header, a page, a dialog, a menu. A zone is found when its widgets are first polished. UI thread
// only.
#pragma once

#include <QHash>
#include <QObject>
#include <QProxyStyle>
#include <QString>

namespace vramscope::ui {

inline constexpr char kThemeFrame[] = "themeFrame";

class ThemeZones : public QObject {
  Q_OBJECT
 public:
  static ThemeZones& Instance();  // the only instance; the application destroys it
  void setSheet(const QString& sheet);
  int zones() const { return static_cast<int>(zones_.size()); }
  int stale() const;  // number of zones that still have an older style sheet

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  explicit ThemeZones(QObject* parent);
  void Apply(QWidget* zone);
  QString sheet_;
  QHash<QWidget*, bool> zones_;  // value: whether the zone has the style sheet sheet_
};

// Qt's Fusion style, with separators between docks in the palette's colors.
class FlatStyle : public QProxyStyle {
  Q_OBJECT
 public:
  FlatStyle();
  int pixelMetric(PixelMetric metric, const QStyleOption* option,
                  const QWidget* widget) const override;
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
};

}  // namespace vramscope::ui
