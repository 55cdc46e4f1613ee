// Covers the window while a file is dragged over it, if the window shows a trace. Each half of the
// cover states what dropping the file there does.
//
//   zones->show(centralWidget()->geometry(), theme, point);
//   if (zones->compares(point)) compareWith(path);
#pragma once

#include <QWidget>

#include "ui/timeline/theme.h"

namespace vramscope::ui {

class DropZones : public QWidget {
  Q_OBJECT
 public:
  explicit DropZones(QWidget* parent);
  void show(const QRect& area, const timeline::Theme& theme, const QPoint& point);
  void setPoint(const QPoint& point);        // the mouse position, in coordinates of the parent
  bool compares(const QPoint& point) const;  // whether a file dropped there is compared

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  timeline::Theme theme_ = timeline::Theme::Dark();
  bool compare_ = false;
};

}  // namespace vramscope::ui
