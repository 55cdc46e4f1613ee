// QApplication that survives what is thrown in a handler of an event: a slot, a queued call, a
// timer, a paint event. An exception must not pass through Qt's loop, where it ends the process.
// What was about to be done is not done, and the window says so.
#pragma once

#include <QApplication>
#include <QPointer>

namespace vramscope::ui {

class MainWindow;

class Application : public QApplication {
 public:
  using QApplication::QApplication;
  // That says it; none: standard error alone.
  void setWindow(MainWindow* window);
  bool notify(QObject* receiver, QEvent* event) override;

 private:
  QPointer<QObject> window_;  // a MainWindow
};

}  // namespace vramscope::ui
