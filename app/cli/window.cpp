#include "app/cli/window.h"

#include <cstdlib>
#include <filesystem>

#include "app/cli/card_libraries.h"
#include "app/cli/info.h"
#include "app/cli/plan.h"
#include "app/cli/run_options.h"

#ifdef VRAMSCOPE_WITH_WINDOW
#include "ui/shell/open_requests.h"
#include "ui/shell/window_main.h"
#endif

namespace vramscope::cli {
namespace {

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool HaveDisplay() {
  return IsSet("WAYLAND_DISPLAY") || IsSet("DISPLAY") || IsSet("QT_QPA_PLATFORM");
}

#ifdef VRAMSCOPE_WITH_WINDOW
bool SentToOpenWindow(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    std::error_code error;
    paths.push_back(std::filesystem::absolute(file, error).string());
    if (file == "-" || error) return false;
  }
  return ui::SendToOpenWindow(paths);
}
#endif

// What the window would show first, in text.
ExitCode WithoutDisplay(const WindowArguments& arguments) {
  if (arguments.files.empty()) {
    Note("no display: planning the default run (`vramscope --help` shows the commands)");
    const absl::StatusOr<run::RunConfig> config = BuildRun({}, run::Backend::kPlan);
    return config.ok() ? RunAndReport(*config, {}) : ReportError(config.status());
  }
  Note("no display: showing what is in the files");
  ExitCode worst = kDone;
  for (const std::string& file : arguments.files) {
    const ExitCode code = ShowInfo(file, false);
    if (code != kDone) worst = code;
  }
  return worst;
}

}  // namespace

ExitCode OpenWindow([[maybe_unused]] int argc, [[maybe_unused]] char** argv,
                    const WindowArguments& arguments) {
#ifdef VRAMSCOPE_WITH_WINDOW
  if (arguments.in_open_window && SentToOpenWindow(arguments.files)) return kDone;
  const bool picture = !arguments.screenshot.empty() || !arguments.dump_state.empty();
  if (picture && !HaveDisplay()) setenv("QT_QPA_PLATFORM", "offscreen", 1);
  if (picture || HaveDisplay()) {
    return static_cast<ExitCode>(
        ui::RunWindow(argc, argv,
                      {.files = arguments.files,
                       .screenshot = arguments.screenshot,
                       .dump_state = arguments.dump_state,
                       .size = arguments.size,
                       .theme = arguments.theme,
                       .scale = arguments.scale,
                       .page = arguments.page,
                       .card_libraries = [] { return CardLibraries(""); }}));
  }
#else
  (void)HaveDisplay;
#endif
  return WithoutDisplay(arguments);
}

}  // namespace vramscope::cli
