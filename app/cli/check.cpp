// `check [RUN|FILE] --budget SIZE`, `check --budget SIZE -- PROGRAM`: exits with 1 when the run
// needs more memory than the budget.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "app/cli/check_verdict.h"
#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/output.h"
#include "app/cli/program_command.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "app/cli/toggles.h"
#include "app/cli/worker_run.h"
#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"
#include "profiler/fit/fit.h"
#include "profiler/program/program.h"
#include "profiler/program/verdict.h"
#include "profiler/run/check_run.h"
#include "profiler/run/device_file.h"
#include "profiler/run/units.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/processes.h"

namespace vramscope::cli::check_command {
namespace {

struct Options {
  RunOptions run;
  RangeOptions range;
  ProgramOptions program;
  std::string file, budget, host_budget, context, summary, trace_path;
  bool json = false;
  uint64_t budget_bytes = 0;
  std::optional<uint64_t> host_budget_bytes;
  std::optional<run::Assumption> context_said;
};

// Parses the size of a CUDA context. If the text names a GPU instead, returns the size of that
// GPU's context.
absl::StatusOr<run::Assumption> ParseContext(const std::string& text) {
  const absl::StatusOr<std::string> written = run::DeviceTextOf(text);
  const absl::StatusOr<run::DeviceProfile> device =
      written.ok() ? run::FindDevice(*written) : written.status();
  if (device.ok()) return run::ContextAssumption(*device);
  if (run::IsDeviceFile(text) || text.find('=') != std::string::npos) return device.status();
  const absl::StatusOr<uint64_t> bytes = run::ParseBytes(text);
  if (bytes.ok())
    return run::Assumption{
        i18n::Text("CUDA context and libraries take the size that is given with --context"),
        "--context", *bytes};
  return absl::InvalidArgumentError(
      i18n::Format("{}. The value is not the name of a GPU in `vramscope devices` either",
                   std::string(bytes.status().message())));
}

// Appends the text, because $GITHUB_STEP_SUMMARY already contains the output of earlier steps.
absl::Status Append(const std::string& path, const std::string& text) {
  const auto failed = [&] {
    return absl::PermissionDeniedError(
        fmt::format("--summary: '{}': {}", path, i18n::ErrnoText(errno)));
  };
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return failed();
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t wrote = write(fd, text.data() + at, text.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    at += static_cast<size_t>(wrote);
  }
  const absl::Status status = at == text.size() ? absl::OkStatus() : failed();
  return close(fd) == 0 || !status.ok() ? status : failed();
}

// Prints the verdict and returns the exit status. If there is a budget for host memory, also judges
// the host memory. `whole` is the trace with all processes and devices. `more` is added to the
// JSON.
ExitCode Say(const Judged& judged, const trace::Trace& whole, const std::string& what,
             const Options& options, const Json& more = Json::object()) {
  std::optional<JudgedHost> host;
  if (options.host_budget_bytes) host = JudgeHost(whole, *options.host_budget_bytes);
  ExitCode printed;
  if (options.json) {
    Json json = JudgedJson(judged);
    if (host) json["host"] = JudgedJson(*host);
    json.update(more);
    printed = PrintJson(json);
  } else {
    std::string text = JudgedText(judged);
    if (host) text += "\n" + JudgedText(*host);
    printed = PrintText(text + AssumptionsText({judged.context}));
  }
  if (!options.summary.empty()) {
    const std::string text = JudgedMarkdown(judged, host ? &*host : nullptr, what);
    if (const absl::Status s = Append(options.summary, text); !s.ok()) return ReportError(s);
  }
  if (printed != kDone) return printed;
  const auto any = [&](Judged::Verdict verdict) {
    return judged.verdict == verdict || (host && host->verdict == verdict);
  };
  if (any(Judged::Verdict::kOver)) return kNo;
  // An unknown verdict and a "no" have different exit statuses.
  return any(Judged::Verdict::kUnknown) ? kBadInput : kDone;
}

// Returns whether the verdict `a` is worse than `b`.
bool IsWorse(const Judged& a, const Judged& b) {
  const auto rank = [](const Judged& of) {
    return std::tuple(of.verdict == Judged::Verdict::kOver, of.verdict == Judged::Verdict::kUnknown,
                      of.needed);
  };
  return rank(a) > rank(b);
}

// Each device must fit the budget by itself, so the verdict is the worst of the devices' verdicts.
absl::StatusOr<Judged> JudgeDevices(const std::shared_ptr<const trace::Trace>& whole,
                                    const Options& options) {
  const std::vector<uint8_t> devices = trace::DevicesOf(*whole);
  if (devices.size() < 2) return Judge(whole, options.budget_bytes, options.context_said);
  std::optional<Judged> worst;
  absl::Status unknown;
  for (const uint8_t device : devices) {
    absl::StatusOr<Judged> judged =
        Judge(trace::OfDevice(whole, device), options.budget_bytes, options.context_said);
    if (!judged.ok())
      unknown = Named(fmt::format("cuda:{}", device), judged.status());
    else if (!worst || IsWorse(*judged, *worst))
      worst = *std::move(judged);
  }
  if (worst && (unknown.ok() || worst->verdict == Judged::Verdict::kOver)) return *std::move(worst);
  return unknown;
}

ExitCode JudgeAndSay(const std::string& file, const std::string& what,
                     const std::shared_ptr<const trace::Trace>& whole, const Options& options) {
  const absl::StatusOr<Judged> judged = JudgeDevices(whole, options);
  if (!judged.ok())
    return ReportError(file.empty() ? judged.status() : Named(file, judged.status()));
  if (const size_t devices = trace::DevicesOf(*whole).size(); devices > 1)
    Note(
        i18n::Format("the trace contains {} devices; the verdict is that of {}, the worst of their "
                     "verdicts",
                     devices, trace::NameOfDevice(*whole, trace::OnlyDevice(*judged->trace))));
  return Say(*judged, *whole, what, options);
}

// Each process must fit the budget by itself, so the verdict is that of the process that needs the
// most memory.
ExitCode JudgeProgram(program::Program& seen, const program::Outcome& outcome,
                      const Options& options) {
  const std::shared_ptr<const trace::Trace> whole = program::JoinRuns(seen);
  if (!options.trace_path.empty())
    if (const absl::Status written = WriteTrace(*whole, options.trace_path); !written.ok())
      return ReportError(written);
  for (const std::string& warning : seen.warnings) NoteWarning(warning);
  std::optional<Judged> most;
  Json ranks = Json::array();
  for (const program::ProcessRun& run : seen.runs) {
    absl::StatusOr<Judged> judged = JudgeDevices(run.trace, options);
    if (!judged.ok()) return ReportError(judged.status());
    ranks.push_back({{"rank", run.about.rank},
                     {"process", run.about.pid},
                     {"needed", judged->needed},
                     {"within_budget", judged->within()}});
    if (!most || IsWorse(*judged, *most)) most = *std::move(judged);
  }
  // A program that failed for a reason other than lack of memory may not have reached its peak.
  const ExitCode ended = Verdict(seen, outcome, most->summary.out_of_memory);
  if (ended != kDone && ended != kNo) return ended;
  // If a toggle had no effect or cannot be used, the judged run is not the requested one.
  if (!SayUnapplied(ReportsOf(seen))) return kBadInput;
  return Say(*most, *whole, program::ShortCommand(whole->info.title), options, {{"ranks", ranks}});
}

ExitCode CheckProgram(const Context& context, Options& options) {
  const RunOptions& run = options.run;
  if (!options.file.empty() || !run.preset.empty() || !run.model.empty() || !run.config.empty() ||
      !run.sets.empty()) {
    NoteError(i18n::Text("`check` takes only one of FILE, RUN and -- PROGRAM"));
    return kUsage;
  }
  if (options.trace_path == "-") {
    NoteError(
        i18n::Text("-o - cannot be used, because the verdict is printed to standard output; pass "
                   "the name of a file for the trace"));
    return kUsage;
  }
  if (const ExitCode wrong =
          CheckOutputOf(context.after_dashes, options.program, options.trace_path);
      wrong != kDone)
    return wrong;
  options.program.memory_bytes = options.budget_bytes;
  if (options.context_said) options.program.context_bytes = options.context_said->bytes;
  // The program's output goes to stderr; stdout is for the verdict.
  return RunProgram(context.after_dashes, options.program, {.json = true}, true,
                    [&](program::Program& seen, const program::Outcome& outcome) {
                      return JudgeProgram(seen, outcome, options);
                    });
}

ExitCode Execute(const Context& context, Options& options) {
  // The default budget is the memory of the run's GPU. A FILE has no default budget.
  const RunOptions of_run = options.file.empty() ? options.run : RunOptions();
  const absl::StatusOr<uint64_t> budget = BudgetOf(options.budget, of_run);
  if (!budget.ok()) return ReportBudgetError(options.budget, of_run, budget.status());
  options.budget_bytes = *budget;
  if (!options.host_budget.empty()) {
    const absl::StatusOr<uint64_t> bytes = run::ParseBytes(options.host_budget);
    if (!bytes.ok()) {
      NoteError("--host-budget: " + std::string(bytes.status().message()));
      return kUsage;
    }
    options.host_budget_bytes = *bytes;
  }
  if (!options.context.empty()) {
    const absl::StatusOr<run::Assumption> said = ParseContext(options.context);
    if (!said.ok()) {
      NoteError("--context: " + std::string(said.status().message()));
      return kUsage;
    }
    options.context_said = *said;
  }
  std::vector<std::string> inputs = options.run.inputs();
  inputs.push_back(options.file);
  inputs.insert(inputs.end(), context.after_dashes.begin(), context.after_dashes.end());
  if (WouldReplaceInput(options.summary, inputs)) return kUsage;
  if (context.has_program || !options.program.from.empty()) return CheckProgram(context, options);
  if (!options.file.empty()) {
    if (options.run.given()) {
      NoteError(i18n::Text(
          "`check` takes either a FILE or a RUN (--preset, --model, --config, --set), not both"));
      return kUsage;
    }
    const auto whole = OpenTrace(options.file, options.range);
    if (!whole.ok()) return ReportError(whole.status());
    return JudgeAndSay(options.file, DisplayName(options.file), *whole, options);
  }
  const absl::StatusOr<run::RunConfig> config = BuildRun(options.run, run::Backend::kPlan);
  if (!config.ok()) return ReportError(config.status());
  const WorkerRun result = RunInWorker(fit::UnderBudget(*config, *budget));
  if (!result.status.ok()) return ReportError(result.status);
  if (result.trace == nullptr)
    return ReportError(absl::InternalError(i18n::Text("the run produced no trace")));
  return JudgeAndSay("", result.trace->info.model.name, result.trace, options);
}

// Reports options that have no effect with this kind of input. With a FILE, `--device` is the
// number of a device; with a RUN or a program, it is the name of a GPU.
ExitCode CheckOptions(const CLI::App& command, const Context& context, Options& options) {
  std::vector<const char*> names(std::begin(kProgramOptionNames), std::end(kProgramOptionNames));
  if (options.program.from.empty()) names.push_back("--output");
  for (const char* name : names) {
    if (context.has_program || command.get_option_no_throw(name) == nullptr ||
        command.count(name) == 0)
      continue;
    NoteError(i18n::Format(
        "{} needs a program, for example: vramscope check --budget 24GiB {} ... -- python train.py",
        name, name));
    return kUsage;
  }
  const bool part = !options.program.device.empty() || !options.range.entries.empty() ||
                    !options.range.time.empty();
  if (!options.file.empty() && !options.host_budget.empty() && part) {
    NoteError(
        i18n::Text("--host-budget checks the whole FILE; remove --device, --time and --entries"));
    return kUsage;
  }
  if (options.file.empty()) {
    for (const char* name : {"--entries", "--time"}) {
      if (command.count(name) == 0) continue;
      NoteError(i18n::Format("{} selects a part of a FILE, but no FILE is given", name));
      return kUsage;
    }
    options.run.device = options.program.device;
    options.run.gpu_memory = options.program.gpu_memory;
    return kDone;
  }
  if (command.count("--gpu-memory") > 0) {
    NoteError(
        i18n::Text("--gpu-memory applies only to a RUN or a program; for a FILE, use --budget"));
    return kUsage;
  }
  if (options.program.device.empty()) return kDone;
  const absl::StatusOr<int64_t> number = run::ParseInteger(options.program.device);
  if (!number.ok() || *number < 0 || *number > 255) {
    NoteError(
        i18n::Format("--device: \"{}\" is not a number from 0 to 255. With a FILE, --device "
                     "selects a device of the file by its number. To use the CUDA context of a "
                     "named GPU, pass the name to --context",
                     Printable(options.program.device)));
    return kUsage;
  }
  options.range.device = static_cast<int>(*number);
  return kDone;
}

void DeclareCheck(CLI::App* command, Context& context) {
  command->footer(
      i18n::Text("Exit status: 1 if a budget is exceeded, 3 if the verdict is unknown. The verdict "
                 "on GPU memory is unknown if the run failed at an allocation that fits the "
                 "budget, or if reserved memory was not recorded. The verdict on host memory is "
                 "unknown if not all of the driver's allocations were recorded.\n") +
      command->get_footer());
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file,
                      "a .trace file or CUDA memory snapshot; without a FILE, the command plans "
                      "the RUN or the PROGRAM");
  AddRunOptions(*command, options->run, DeviceOptions::kElsewhere);
  AddProgramOptions(*command, options->program, true);
  command->get_option("--device")
      ->description(i18n::Format(
          "for a FILE with several devices, the number of one device; for a RUN or a program, {}",
          i18n::Text(kDeviceHelp)))
      ->type_name("N|GPU");
  AddPart(*command, options->range);
  command
      ->add_option("--budget", options->budget,
                   "maximum GPU memory, such as 24GiB. For a RUN or a program with --device, the "
                   "default is the memory of that GPU")
      ->type_name("SIZE");
  command
      ->add_option("--host-budget", options->host_budget,
                   "maximum of the pinned and managed host memory of all processes together, such "
                   "as 64GiB; pageable memory is not counted")
      ->type_name("SIZE");
  command
      ->add_option(
          "--context", options->context,
          i18n::Format(
              "size of the CUDA context, which is added to the allocator's memory: a size such as "
              "450MiB, or the name of a GPU in `vramscope devices`. The default is the context of "
              "the run's GPU, or the context of {} if the recording does not name a GPU",
              run::RunConfig().device))
      ->type_name("SIZE|NAME");
  command
      ->add_option("--summary", options->summary,
                   "append the verdict and the tables of memory at the peak to this file as "
                   "Markdown, for example to $GITHUB_STEP_SUMMARY")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", options->trace_path,
                   "with -- PROGRAM, also write the program's trace to this file")
      ->type_name("F.trace");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context, command] {
    const ExitCode usable = CheckOptions(*command, context, *options);
    context.exit_code = usable == kDone ? Execute(context, *options) : usable;
  });
}

}  // namespace

CommandEntry DeclareCommand_check() {
  return {.place = 170,
          .name = "check",
          .help =
              "exit with status 1 if a run, a trace or a program (-- PROGRAM ARGS...) needs more "
              "memory than the budget",
          .example = "check --budget 24GiB -- python train.py",
          .takes_program = true,
          .declare = DeclareCheck};
}

}  // namespace vramscope::cli::check_command
