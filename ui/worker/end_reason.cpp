#include "ui/worker/end_reason.h"

#include <csignal>

namespace vramscope::ui {

std::string SignalName(int number) {
  switch (number) {
    case SIGSEGV:
      return i18n::Text("a segmentation fault");
    case SIGABRT:
      return i18n::Text("an abort");
    case SIGKILL:
      return i18n::Text(
          "a kill signal (from another process, or because the system ran out of memory)");
    case SIGTERM:
      return i18n::Text("a termination signal");
    case SIGBUS:
      return i18n::Text("a bus error");
    case SIGILL:
      return i18n::Text("an illegal instruction");
    case SIGFPE:
      return i18n::Text("an arithmetic fault");
    default:
      return i18n::Format("signal {}", number);
  }
}

}  // namespace vramscope::ui
