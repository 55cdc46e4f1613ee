// A tour of the window in a few steps. Each step describes a part of the window in a callout, and
// draws a border around that part. Enter, Right and Left change the step; Esc ends the tour.
// Meanwhile, the window can be used as usual.
//
//   auto* tour = new Tour(window);
//   tour->start({{.target = timeline, .title = tr("..."), .text = tr("...")}, ...});
//
// UI thread only. The tour deletes itself when it ends.
#pragma once

#include <QFrame>
#include <QJsonObject>
#include <QPointer>
#include <functional>
#include <vector>

class QLabel;
class QPushButton;

namespace vramscope::ui {

class WrappedLabel;

struct TourStep {
  QPointer<QWidget> target;
  QString title, text;
  std::function<void()> before = {};  // makes the target visible
};

class Tour : public QFrame {
  Q_OBJECT
 public:
  explicit Tour(QWidget* window);
  void start(std::vector<TourStep> steps);
  size_t step() const { return at_; }
  size_t steps() const { return steps_.size(); }
  void go(size_t step);
  void end();
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void ended();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  class Border;
  void Place();
  std::vector<TourStep> steps_;
  size_t at_ = 0;
  QWidget* window_;
  QPointer<Border> border_;
  QLabel* count_ = nullptr;
  QLabel* title_ = nullptr;
  WrappedLabel* text_ = nullptr;
  QPushButton* back_ = nullptr;
  QPushButton* next_ = nullptr;
  QPushButton* close_ = nullptr;
};

}  // namespace vramscope::ui
