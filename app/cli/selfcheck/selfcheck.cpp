// `selfcheck FILE|RUN`: checks that all commands give the same figures for one file or run. The
// figures come from the commands themselves (commands.h); the checks are in *_checks.cpp.
#include <fmt/format.h>

#include <memory>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/language.h"
#include "app/cli/run_options.h"
#include "app/cli/selfcheck/subject.h"
#include "profiler/base/i18n.h"
#include "profiler/trace/one_device.h"

namespace vramscope::cli {
namespace {

using selfcheck::Answer;
using selfcheck::Commands;
using selfcheck::Report;
using selfcheck::Subject;

struct Options {
  RunOptions run;
  std::string file;
  bool json = false;
};

// Returns the options of the RUN, for the commands that take a RUN.
std::vector<std::string> RunArguments(const RunOptions& run) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : {std::pair("--preset", &run.preset),
                                    {"--model", &run.model},
                                    {"--config", &run.config},
                                    {"--device", &run.device},
                                    {"--gpu-memory", &run.gpu_memory}})
    if (!value->empty()) arguments.insert(arguments.end(), {name, *value});
  for (const std::string& set : run.sets) arguments.insert(arguments.end(), {"--set", set});
  return arguments;
}

void CheckDevice(const Subject& s) {
  selfcheck::CheckMemory(s);
  selfcheck::CheckGroups(s);
  selfcheck::CheckAgreement(s);
  selfcheck::CheckBudget(s);
  selfcheck::CheckRequests(s);
  selfcheck::CheckKernels(s);
  selfcheck::CheckDiff(s);
  selfcheck::CheckReplay(s);
  selfcheck::CheckExports(s);
}

// Returns an error if the file cannot be checked. Differences are in the report.
absl::Status CheckFile(Commands& commands, Report& report, const std::string& file) {
  const auto opened = OpenAnything(file, {});
  if (!opened.ok()) return opened.status();
  const std::shared_ptr<const trace::Trace> whole = *opened;
  const Answer info = commands.Run({"info", file, "--json"});
  report.Begin("info");
  report.Equal(TEXT_MARK("the command exits with status 0"), info.exit_code, int{kDone});
  report.Equal(TEXT_MARK("`info` reports as many events as the trace contains"),
               selfcheck::At(info.json, "events"), whole->events.size());
  report.Equal(TEXT_MARK("`info` reports as many allocations as the trace contains"),
               selfcheck::At(info.json, "allocations"), whole->allocations.size());
  const Json& peaks = selfcheck::At(info.json, "peaks");
  report.Equal(
      TEXT_MARK("the allocations of all devices add up to the total number of allocations"),
      selfcheck::Sum(peaks, "allocations"), selfcheck::At(info.json, "allocations"));
  const std::vector<uint8_t> devices = trace::DevicesOf(*whole);
  report.Equal(TEXT_MARK("`info` reports as many devices as the trace contains"), peaks.size(),
               devices.size());
  ProgressBar bar(true);
  for (size_t i = 0; i < devices.size(); ++i) {
    bar.Show(static_cast<double>(i) / static_cast<double>(devices.size()), i18n::Text("comparing"));
    const bool several = devices.size() > 1;
    // Opens the devices one by one, as the commands do, because an importer numbers the events of
    // each device separately.
    RangeOptions range;
    if (several) range.device = devices[i];
    const auto of_device = OpenAnything(file, range);
    if (!of_device.ok()) return of_device.status();
    Subject s{.commands = commands,
              .report = report,
              .file = file,
              .device = several
                            ? std::vector<std::string>{"--device", fmt::format("{}", devices[i])}
                            : std::vector<std::string>{},
              .of = several ? std::optional<int>(devices[i]) : std::nullopt,
              .trace = *of_device,
              .curves = {},
              .peak = {},
              .info = info.json,
              .of_device = i < peaks.size() ? peaks[i] : Json()};
    s.curves = analysis::ComputeCurves(*s.trace);
    s.peak = analysis::FindPeak(*s.trace, s.curves);
    CheckDevice(s);
    if (i == 0) selfcheck::CheckSaved(s, whole);
    commands.Forget();
  }
  return absl::OkStatus();
}

ExitCode Execute(const Options& options) {
  if (!options.file.empty() && options.run.given()) {
    TranslateLate();
    NoteError(i18n::Text(
        "`selfcheck` takes either a FILE or a RUN (--preset, --model, --config, --set), not both"));
    return kUsage;
  }
  if (options.file == "-" || options.run.model == "-" || options.run.config == "-") {
    TranslateLate();
    NoteError(i18n::Text(
        "`selfcheck` reads its input more than once; save standard input to a file first"));
    return kUsage;
  }
  Commands commands;
  Report report;
  std::string file = options.file;
  if (file.empty()) {
    if (commands.folder().path().empty())
      return ReportError(
          absl::InternalError(i18n::Text("there is no folder for temporary files; set TMPDIR")));
    file = commands.folder() / "run.trace";
    const Answer plan = selfcheck::CheckRun(commands, report, RunArguments(options.run), file);
    if (!plan.ok()) {
      const bool is_error = plan.error.starts_with(kErrorPrefix);
      is_error ? NoteError(plan.error.substr(kErrorPrefix.size())) : Note(plan.error);
      return static_cast<ExitCode>(plan.exit_code);
    }
  }
  const absl::Status status = CheckFile(commands, report, file);
  if (!status.ok()) return ReportError(status);
  TranslateLate();
  Json json = selfcheck::ReportJson(report);
  const ExitCode printed = options.json ? PrintJson(json) : PrintText(ReportText(report));
  return printed != kDone ? printed : report.failed() == 0 ? kDone : kNo;
}

void DeclareSelfcheck(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file,
                      "a .trace file, CUDA memory snapshot or Kineto trace; without a FILE, the "
                      "command plans the RUN");
  AddRunOptions(*command, options->run);
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(i18n::Text("Exit status: 1 if two values differ.\n") + command->get_footer());
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_selfcheck() {
  return {.place = 190,
          .name = "selfcheck",
          .help = "check that all commands report the same values for a file or run",
          .example = "selfcheck run.trace",
          .declare = DeclareSelfcheck};
}

}  // namespace vramscope::cli
