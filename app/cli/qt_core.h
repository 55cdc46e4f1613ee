// The Qt Core application that an event loop needs, in a program that is no window.
#pragma once

#include <QCoreApplication>

namespace vramscope::cli {

// Qt wants argc and argv that outlive it.
class QtCore {
 public:
  QtCore() : application_(argc_, argv_) {}

 private:
  int argc_ = 1;
  char name_[10] = "vramscope";
  char* argv_[2] = {name_, nullptr};
  QCoreApplication application_;
};

}  // namespace vramscope::cli
