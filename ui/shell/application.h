// A QApplication that catches the exceptions of event handlers: slots, queued calls, timers and
// paint events. If an exception reached Qt's event loop, it would end the process. Instead, the
// window reports that the action was not completed.
#pragma once

#include <QApplication>
#include <QPointer>

namespace vramscope::ui {

class MainWindow;

class Application : public QApplication {
 public:
  using QApplication::QApplication;
  // Sets the window that reports exceptions. They are also written to standard error.
  void setWindow(MainWindow* window);
  bool notify(QObject* receiver, QEvent* event) override;

 private:
  QPointer<QObject> window_;  // a MainWindow
};

}  // namespace vramscope::ui
