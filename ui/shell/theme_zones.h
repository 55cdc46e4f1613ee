// The style sheet of the theme, given to the parts of the windows one by one: to those in sight at
// once, to the others when they come into sight. Polishing a widget for a style sheet takes a third
// of a millisecond, and of the window's widgets four in five are on pages behind others.
//
//   ThemeZones::Instance().setSheet(MakeStyleSheet(theme));
//
// A zone is the outermost widget that is no mere frame of others (main window, dock, stack, tabs):
// the header, a page, a dialog, a menu. It finds itself when it is first polished. Frames have no
// rules: what they show is the palette's and FlatStyle's.
// UI thread only.
#pragma once

#include <QHash>
#include <QObject>
#include <QProxyStyle>
#include <QString>

namespace vramscope::ui {

class ThemeZones : public QObject {
  Q_OBJECT
 public:
  static ThemeZones& Instance();  // of the application, and ends with it
  void setSheet(const QString& sheet);
  int zones() const { return static_cast<int>(zones_.size()); }
  int stale() const;  // that still have an older sheet

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  explicit ThemeZones(QObject* parent);
  void Apply(QWidget* zone);
  QString sheet_;
  QHash<QWidget*, bool> zones_;  // whether it has this sheet
};

// Fusion, and what the frames between zones show in the palette's colours.
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
