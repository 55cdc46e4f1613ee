// Widgets of the breakdown panel that paint themselves: the bar, and the list of the largest
// allocations. Only breakdown_panel.cpp uses them.
#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <vector>

#include "ui/panels/breakdown_panel.h"

namespace vramscope::ui {

// A bar divided into the shares of the categories.
class BreakdownPanel::Bar : public QWidget {
 public:
  explicit Bar(BreakdownPanel* panel);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  BreakdownPanel* panel_;
};

// The largest live allocations; a click selects one.
class BreakdownPanel::LiveList : public QWidget {
 public:
  static constexpr int kLargest = 8;  // number of lines that fit

  explicit LiveList(BreakdownPanel* panel);
  void set(std::shared_ptr<const trace::Trace> trace, std::vector<analysis::LiveAllocation> live);
  const std::vector<analysis::LiveAllocation>& live() const { return live_; }
  QString name(size_t i) const;
  QString bytes(size_t i) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  BreakdownPanel* panel_;
  std::shared_ptr<const trace::Trace> trace_;
  std::vector<analysis::LiveAllocation> live_;
  int hover_ = -1;
};

}  // namespace vramscope::ui
