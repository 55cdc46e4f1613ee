// Parts of the breakdown that paint themselves: its bar, and the list of what is largest. Internal
// to breakdown_panel.
#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <vector>

#include "ui/panels/breakdown_panel.h"

namespace vramscope::ui {

// One bar, cut into the categories' shares.
class BreakdownPanel::Bar : public QWidget {
 public:
  explicit Bar(BreakdownPanel* panel);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  BreakdownPanel* panel_;
};

// The largest live allocations; a click selects.
class BreakdownPanel::LiveList : public QWidget {
 public:
  static constexpr int kLargest = 8;  // that there is room for

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
