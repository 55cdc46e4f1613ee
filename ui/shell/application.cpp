#include "ui/shell/application.h"

#include <cstdio>
#include <string>

#include "profiler/trace/catch_status.h"
#include "ui/shell/main_window.h"

namespace vramscope::ui {

void Application::setWindow(MainWindow* window) { window_ = window; }

bool Application::notify(QObject* receiver, QEvent* event) {
  bool handled = false;
  const absl::Status status =
      trace::CatchStatus([&] { handled = QApplication::notify(receiver, event); });
  if (!status.ok()) {
    // If an exception is thrown while this one is reported, ignore it.
    trace::CatchStatus([&] {
      std::fprintf(stderr, "vramscope: %s\n", std::string(status.message()).c_str());
      if (window_) static_cast<MainWindow*>(window_.data())->showInternalFailure(status);
    }).IgnoreError();
  }
  return handled;
}

}  // namespace vramscope::ui
