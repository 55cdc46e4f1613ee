// A page about what is drawn, in all of the trace or in the selected range, which asks anew when
// that changes: at once while it is looked at, else when it is looked at next.
//
//   class KernelsPanel : public RangedPage {
//     void Ask() override {
//       ShowRange();
//       ...  // of indexes_, in range_
//     }
//   };
//
// UI thread.
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
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: none

 Q_SIGNALS:
  void rangeLeft();

 protected:
  void showEvent(QShowEvent* event) override;
  virtual void Ask() = 0;
  void Stale();
  // The button that names the range and leaves it; hidden until there is one.
  QToolButton* MakeRangeButton(const QString& name, const QString& tip);
  // What is shown is what was asked about: the button is up to date.
  void ShowRange();

  std::shared_ptr<const timeline::TimelineData> indexes_;  // null: nothing is shown
  std::pair<qint64, qint64> range_{0, 0};                  // ns

 private:
  bool stale_ = false;
  QToolButton* leave_ = nullptr;
};

}  // namespace vramscope::ui
