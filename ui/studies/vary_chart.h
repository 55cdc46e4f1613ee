// A chart of the memory that a program needs with other values of its arguments. It has a point for
// each plan, and a line at the budget. A click on a point, or Enter, calls `opened`.
#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "ui/timeline/theme.h"

namespace vramscope::ui {

struct VaryPoint {
  QString label;     // "8"
  double bytes = 0;  // memory that the program needs
  bool fits = true;
  QString error;  // why there is no plan; empty: there is a plan
};

class VaryChart : public QWidget {
 public:
  explicit VaryChart(std::function<void(int)> opened, QWidget* parent = nullptr);
  // `budget` is in bytes. If it is nullopt, no line is drawn.
  void setPoints(std::vector<VaryPoint> points, std::optional<double> budget);
  void setTheme(const timeline::Theme& theme);
  QPointF position(int point) const;  // position of the point's centre
  QSize sizeHint() const override { return {400, 170}; }
  QSize minimumSizeHint() const override { return {200, 90}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  int PointAt(const QPointF& at) const;  // -1: none
  double Top() const;                    // the bytes at the upper edge
  QRectF Plot() const;
  double Y(double bytes) const;
  void PaintPoint(class QPainter& painter, int point) const;
  void Hover(int point);
  std::function<void(int)> opened_;
  std::vector<VaryPoint> points_;
  std::optional<double> budget_;
  timeline::Theme theme_ = timeline::Theme::Dark();
  int hover_ = -1, current_ = -1;
};

}  // namespace vramscope::ui
