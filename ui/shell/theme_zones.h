// Applies the theme's style sheet to each part of the windows separately. A visible part gets it at
// once, a hidden part when it becomes visible. This saves time: Qt needs a third of a millisecond
// to polish a widget for a style sheet, and 80 % of the window's widgets are on hidden pages.
//
//   ThemeZones::Instance().setSheet(MakeStyleSheet(theme));
//
// A frame is a widget that only arranges others: the main window, docks, stacks, tabs, and
// plain widgets with the property kThemeFrame. A zone is an outermost widget that is not a
// frame: the header, a page, a dialog, a menu. A zone is found when its widgets are first
// polished. Frames have no style sheet. They are drawn with the palette and FlatStyle. UI
// thread only.
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
  static ThemeZones& Instance();  // the application's only instance, destroyed with it
  void setSheet(const QString& sheet);
  int zones() const { return static_cast<int>(zones_.size()); }
  int stale() const;  // number of zones with an older sheet

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  explicit ThemeZones(QObject* parent);
  void Apply(QWidget* zone);
  QString sheet_;
  QHash<QWidget*, bool> zones_;  // true if the zone has sheet_
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
