// A call stack, a frame a line: what does not fit is cut in the middle, never wider than its place;
// the tool tip has the whole, with the whole path.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

#include "ui/timeline/model/origin.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

class FrameList : public QWidget {
  Q_OBJECT
 public:
  explicit FrameList(QWidget* parent = nullptr);
  void set(std::vector<timeline::StackLine> lines, const timeline::Theme& theme);
  const std::vector<timeline::StackLine>& lines() const { return lines_; }
  // As it is drawn at the present width.
  QString shownFunction(int line) const;
  QString shownFile(int line) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::vector<timeline::StackLine> lines_;
  timeline::Theme theme_;
};

}  // namespace vramscope::ui
