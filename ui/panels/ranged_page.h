// The base class of pages that show the whole trace or the selected range. When the trace or range
// changes, a visible page computes its contents again, and a hidden page waits until it is shown.
//
//   class KernelsPanel : public RangedPage {
//     void Ask() override {
//       ShowRange();
//       ...  // compute from indexes_ and range_
//     }
//   };
//
// UI thread only.
#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <utility>

#include "ui/timeline/model/timeline_data.h"

class QToolButton;

namespace vramscope::ui {

class RangedPage : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: no range

 Q_SIGNALS:
  void rangeLeft();

 protected:
  void showEvent(QShowEvent* event) override;
  virtual void Ask() = 0;
  void Stale();
  // Makes a button that shows the range. A click clears the range, which hides the button.
  QToolButton* MakeRangeButton(const QString& name, const QString& tip);
  // Makes the button show range_.
  void ShowRange();

  std::shared_ptr<const timeline::TimelineData> indexes_;  // null: shows nothing
  std::pair<qint64, qint64> range_{0, 0};                  // ns

 private:
  bool stale_ = false;
  QToolButton* leave_ = nullptr;
};

}  // namespace vramscope::ui
