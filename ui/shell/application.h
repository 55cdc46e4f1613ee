// A QApplication that survives exceptions thrown by event handlers: slots, queued calls, timers and
// paint events. An exception that reaches Qt's event loop would end the process. The action that
// threw remains incomplete, and the window reports that.
#pragma once

#include <QApplication>
#include <QPointer>

namespace vramscope::ui {

class MainWindow;

class Application : public QApplication {
 public:
  using QApplication::QApplication;
  // The window that reports exceptions; without a window, they are only written to standard error.
  void setWindow(MainWindow* window);
  bool notify(QObject* receiver, QEvent* event) override;

 private:
  QPointer<QObject> window_;  // a MainWindow
};

}  // namespace vramscope::ui
