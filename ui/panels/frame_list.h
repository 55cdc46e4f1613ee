// A call stack, with a line for each frame. A line that is too long is elided in the middle. Its
// tool tip shows the whole line and path.
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
  // Both functions return the text of a line as it is drawn at the current width.
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
