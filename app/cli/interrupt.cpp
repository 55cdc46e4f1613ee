#include "app/cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <string_view>

#include "profiler/base/i18n.h"
#include "profiler/base/output_language.h"
#include "profiler/trace/output_file.h"

namespace vramscope::cli {
namespace {

constexpr std::string_view kCancelled = TEXT_MARK("cancelled");
constexpr std::string_view kNothingWritten = TEXT_MARK("; nothing was written");
// The translations of the two texts above, because a signal handler can't look them up. Null: the
// texts stay in English.
std::atomic<const std::string*> g_cancelled = nullptr, g_nothing_written = nullptr;

// Calls only functions that are allowed in a signal handler.
void Say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void Say(const std::atomic<const std::string*>& translation, std::string_view english) {
  const std::string* const text = translation;
  Say(text != nullptr ? std::string_view(*text) : english);
}

void End(int signal) {
  if (isatty(STDERR_FILENO) == 1) Say("\r\033[K");  // erases the progress bar
  Say("vramscope: ");
  Say(g_cancelled, kCancelled);
  if (trace::OutputFile::RemoveUnfinished()) Say(g_nothing_written, kNothingWritten);
  Say("\n");
  _exit(128 + signal);
}

}  // namespace

void TranslateInterrupt() {
  const i18n::InLanguage translated;
  g_cancelled = &i18n::Text(kCancelled);
  g_nothing_written = &i18n::Text(kNothingWritten);
}

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
