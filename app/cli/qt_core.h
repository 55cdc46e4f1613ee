// Creates the Qt Core application that an event loop needs in a program without a window.
#pragma once

#include <QCoreApplication>

namespace vramscope::cli {

// Stores argc and argv, which must outlive the application. Sets the variable QT_NO_GLIB to select
// Qt's own event loop, because GLib ends the process if an allocation fails. Then removes the
// variable, so that child processes get the original environment.
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
