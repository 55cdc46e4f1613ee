#include "app/cli/window.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "app/cli/gpu_libraries.h"
#include "app/cli/info.h"
#include "app/cli/plan.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "profiler/base/i18n.h"
#include "profiler/setup/find_libtorch.h"
#include "profiler/setup/samples.h"
#include "profiler/trace/reader.h"

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
// Prints the plan that is shipped for this run, and what this computer can do.
ExitCode ShowSample(const run::RunConfig& config) {
  const std::string folder = setup::SamplesFolder();
  const setup::Samples samples = setup::Samples::In(folder);
  const std::string* file = samples.Find(config);
  Note(i18n::Text(
      "there is no display, and LibTorch, which the built-in models need, is not installed. These "
      "commands need neither a display nor LibTorch:\n  vramscope plan -- python train.py      "
      "plans your program with its own PyTorch\n  vramscope info FILE, explain FILE      read a "
      "memory snapshot, a trace or a Kineto trace\n  vramscope setup                        "
      "downloads LibTorch\n  vramscope --screenshot OUT.png FILE    draws the window into a file\n "
      " vramscope --help                       lists all commands"));
  if (file == nullptr) return kDone;
  const absl::StatusOr<std::shared_ptr<const trace::Trace>> trace = trace::ReadTraceFile(*file, {});
  if (!trace.ok()) return ReportError(trace.status());
  Note(i18n::Format("a sample run that is installed with vramscope ({}):", *file));
  return PrintText(
      SummaryText(**trace, analysis::Summarize(**trace, analysis::ComputeCurves(**trace))));
}

// Prints, as text, what the window would show at its start.
ExitCode WithoutDisplay(const WindowArguments& arguments) {
  if (arguments.files.empty()) {
    const absl::StatusOr<run::RunConfig> config = BuildRun({}, run::Backend::kPlan);
    if (!config.ok()) return ReportError(config.status());
    if (!IsSet("VRAMSCOPE_WORKER") && !setup::FindLibTorch(setup::OwnSetupPlaces()).found())
      return ShowSample(*config);
    Note(
        i18n::Text("no display: planning the default run (`vramscope --help` shows the commands)"));
    return RunAndReport(*config, {});
  }
  Note(i18n::Text("no display: printing what the files contain"));
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
    return static_cast<ExitCode>(ui::RunWindow(argc, argv,
                                               {.files = arguments.files,
                                                .screenshot = arguments.screenshot,
                                                .dump_state = arguments.dump_state,
                                                .size = arguments.size,
                                                .theme = arguments.theme,
                                                .scale = arguments.scale,
                                                .language = arguments.language,
                                                .page = arguments.page,
                                                .gpu_libraries = [] { return GpuLibraries(""); }}));
  }
#else
  (void)HaveDisplay;
#endif
  return WithoutDisplay(arguments);
}

}  // namespace vramscope::cli
