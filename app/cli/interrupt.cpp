#include "app/cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "profiler/trace/output_file.h"

namespace vramscope::cli {
namespace {

// Calls only functions that are allowed in a signal handler.
void Say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void End(int signal) {
  if (isatty(STDERR_FILENO) == 1) Say("\r\033[K");  // erases the progress bar
  Say("vramscope: cancelled");
  if (trace::OutputFile::RemoveUnfinished()) Say("; nothing was written");
  Say("\n");
  _exit(128 + signal);
}

}  // namespace

void EndOnInterrupt() {
  struct sigaction action {};
  action.sa_handler = End;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    // a signal that is ignored because of nohup or & stays ignored
    if (before.sa_handler == SIG_DFL) sigaction(signal, &action, nullptr);
  }
}

}  // namespace vramscope::cli
