// The Qt Core application that an event loop needs, in a program that is no window.
#pragma once

#include <QCoreApplication>

namespace vramscope::cli {

// Qt wants argc and argv that outlive it. Its own event loop, not GLib's, which ends the process
// where a request of memory fails. What is started has the environment as it was.
class QtCore {
 public:
  QtCore() : application_(argc_, argv_) {
    if (!without_glib_) qunsetenv(kNoGlib);
  }

 private:
  static constexpr char kNoGlib[] = "QT_NO_GLIB";

  static bool WithoutGlib() {
    const bool already = qEnvironmentVariableIsSet(kNoGlib);
    if (!already) qputenv(kNoGlib, "1");
    return already;
  }

  const bool without_glib_ = WithoutGlib();
  int argc_ = 1;
  char name_[10] = "vramscope";
  char* argv_[2] = {name_, nullptr};
  QCoreApplication application_;
};

}  // namespace vramscope::cli
