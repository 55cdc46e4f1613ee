#include "app/cli/program_command.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <utility>

#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/output.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "app/cli/toggles.h"
#include "profiler/analysis/analysis.h"
#include "profiler/base/i18n.h"
#include "profiler/base/install_paths.h"
#include "profiler/fit/fit.h"
#include "profiler/program/launch.h"
#include "profiler/program/program.h"
#include "profiler/program/scratch_folder.h"
#include "profiler/program/toggles.h"
#include "profiler/program/verdict.h"
#include "profiler/program/warm.h"
#include "profiler/run/device_file.h"
#include "profiler/run/run_config.h"
#include "profiler/run/units.h"
#include "profiler/trace/one_device.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;
using program::About;
using program::Program;

constexpr uint32_t kMostRanks = 256;  // the maximum number of devices in a trace

std::atomic<int> g_interrupts{0};

// While an object exists, Ctrl-C and similar signals are passed on to the program and do not end
// this process.
class PassInterruptsOn {
 public:
  PassInterruptsOn() {
    g_interrupts = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { g_interrupts.fetch_add(1); };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~PassInterruptsOn() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  PassInterruptsOn(const PassInterruptsOn&) = delete;
  PassInterruptsOn& operator=(const PassInterruptsOn&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[3];
};

// The folder to which the hooks write. It is deleted with this object unless --keep is given.
class OutputFolder {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFolder>> Make(const std::string& keep) {
    auto folder = std::unique_ptr<OutputFolder>(new OutputFolder);
    if (!keep.empty()) {
      folder->path_ = fs::absolute(keep);
      std::error_code error;
      if (fs::exists(folder->path_, error) && !fs::is_empty(folder->path_, error))
        return absl::InvalidArgumentError(
            i18n::Format("--keep: '{}' is not empty; choose another folder", keep));
      fs::create_directories(folder->path_, error);
      if (error)
        return absl::PermissionDeniedError(fmt::format("--keep: '{}': {}", keep, error.message()));
      return folder;
    }
    absl::StatusOr<std::unique_ptr<program::ScratchFolder>> scratch =
        program::ScratchFolder::Make();
    if (!scratch.ok()) return scratch.status();
    folder->scratch_ = *std::move(scratch);
    folder->path_ = folder->scratch_->path();
    return folder;
  }
  std::string path() const { return path_.string(); }

  // Keeps the folder of a recording whose trace could not be written, because the training may have
  // been long. Prints a command that writes the trace again.
  void KeepRecording() {
    std::string kept = path();
    if (scratch_ != nullptr) {
      const absl::StatusOr<std::string> renamed = scratch_->Keep();
      if (!renamed.ok()) return NoteError(std::string(renamed.status().message()));
      kept = *renamed;
    }
    Note(i18n::Format("the recording is kept; read it with: vramscope record --from '{}' -o FILE",
                      kept));
  }

 private:
  OutputFolder() = default;
  fs::path path_;
  std::unique_ptr<program::ScratchFolder> scratch_;  // null: the folder is kept
};

struct Shown {
  const program::ProcessRun* run = nullptr;
  std::shared_ptr<const trace::Trace> device;  // the device that is shown
  analysis::Summary summary;
};

Json RankJson(const Shown& shown) {
  return {
      {"rank", shown.run->about.rank},
      {"process", shown.run->about.pid},
      {"device", shown.run->first_device},
      {"peak",
       {{"allocated", shown.summary.peak.allocated}, {"reserved", shown.summary.peak.reserved}}},
      {"steps", shown.summary.steps.size()}};
}

Json ProgramJson(const program::Outcome& outcome, const About& about, const About* failed) {
  return {{"exit_status", outcome.exit_status},
          {"signal", outcome.signal == 0 ? Json() : Json(outcome.signal)},
          {"ended", about.ended.empty() ? "killed" : about.ended},
          {"exception", failed == nullptr ? Json() : Json(WhyOf(*failed))},
          {"cold", outcome.cold.empty() ? Json() : Json(outcome.cold)},
          {"sources", about.sources},
          {"isolation", outcome.isolation.empty() ? Json() : Json(outcome.isolation)},
          {"recognised", about.launches.all == 0 ? Json()
                                                 : Json{{"launches", about.launches.all},
                                                        {"known", about.launches.recognised}}},
          {"torch", about.torch},
          {"cuda", about.cuda},
          {"python", about.python}};
}

// `unwritten` is called if the trace could not be written.
ExitCode Report(Program& seen, const program::Outcome& outcome, const RunOutput& output,
                bool all_toggles, const std::function<void()>& unwritten) {
  const std::shared_ptr<const trace::Trace> whole = program::JoinRuns(seen);
  if (!output.trace_path.empty()) {
    if (const absl::Status written = WriteTrace(*whole, output.trace_path); !written.ok()) {
      const ExitCode code = ReportError(written);
      if (unwritten) unwritten();
      return code;
    }
  }
  std::vector<Shown> all;
  for (const program::ProcessRun& run : seen.runs) {
    const auto device = analysis::DeviceToShow(run.trace);
    Shown shown{.run = &run, .device = device ? trace::OfDevice(run.trace, *device) : run.trace};
    shown.summary = analysis::Summarize(*shown.device, analysis::ComputeCurves(*shown.device));
    all.push_back(std::move(shown));
  }

  const Shown& most = *std::max_element(all.begin(), all.end(), [](const Shown& x, const Shown& y) {
    return x.summary.needed() < y.summary.needed();
  });
  const About& about = most.run->about;
  const std::vector<program::ToggleReport> toggles = ReportsOf(seen);
  const About* const failed = program::FirstFailure(seen);
  for (const std::string& warning : seen.warnings) NoteWarning(warning);
  if (output.trace_path != "-") {
    ExitCode printed = kDone;
    if (output.json) {
      Json json = SummaryJson(*most.device, most.summary);
      json["program"] = ProgramJson(outcome, about, failed);
      json["ranks"] = Json::array();
      for (const Shown& shown : all) json["ranks"].push_back(RankJson(shown));
      const fit::Planned planned_run = fit::PlannedOf(*most.device);
      json["needed"] = planned_run.needed();
      json["step_ms"] = planned_run.step_ms;
      if (!toggles.empty()) json["toggles"] = TogglesJson(toggles, all_toggles);
      json["seconds"] = outcome.seconds;
      printed = PrintJson(json);
    } else {
      std::string text = SummaryText(*most.device, most.summary);
      if (all.size() > 1) {
        // Labels runs with the rank, or with the process id if a rank has several processes. In the
        // trace, each process has devices of its own, even if several processes used the same GPU.
        std::set<uint32_t> ranks;
        for (const Shown& shown : all) ranks.insert(shown.run->about.rank);
        const bool by_rank = ranks.size() == all.size();
        Table table({{by_rank ? i18n::Text("Rank") : i18n::Text("Process"), Table::kRight},
                     {i18n::Text("Device in the trace"), Table::kRight},
                     {i18n::Text("Allocated"), Table::kRight},
                     {i18n::Text("Reserved"), Table::kRight},
                     {i18n::Text("Steps"), Table::kRight}});
        for (const Shown& shown : all)
          table.Row({by_rank ? fmt::format("{}", shown.run->about.rank)
                             : fmt::format("{}", shown.run->about.pid),
                     i18n::Format("--device {}", shown.run->first_device),
                     run::FormatBytes(shown.summary.peak.allocated),
                     run::FormatBytes(shown.summary.peak.reserved),
                     fmt::format("{}", shown.summary.steps.size())});
        text += i18n::Format(
                    "\n  The values above are from the process that needs the most memory. All {} "
                    "processes:\n",
                    all.size()) +
                table.Text();
      }
      text += TogglesText(toggles);
      printed = PrintText(text);
    }
    if (printed != kDone) return printed;
  }
  const ExitCode verdict = Verdict(seen, outcome, most.summary.out_of_memory);
  return verdict == kDone && !SayUnapplied(toggles) ? kNo : verdict;
}

// Reports how much GPU memory a program without Python used. What used the memory is unknown.
ExitCode ReportUnwatched(const Program& seen, const program::Outcome& outcome,
                         const RunOutput& output) {
  const program::Unwatched& most = *std::max_element(
      seen.unwatched.begin(), seen.unwatched.end(),
      [](const auto& x, const auto& y) { return x.most_used_bytes < y.most_used_bytes; });
  const uint64_t needed = most.most_used_bytes + most.context_bytes;
  Note(i18n::Text(
      "this program used the GPU without Python. There is no trace, because vramscope's hooks need "
      "Python. Only the amount of memory is known, not what the program used the memory for"));
  ExitCode printed = kDone;
  if (output.json) {
    printed = PrintJson({{"device", most.device},
                         {"peak", {{"device_used", needed}}},
                         {"context_bytes", most.context_bytes},
                         {"memory_bytes", most.memory_bytes},
                         {"fits", needed <= most.memory_bytes},
                         {"launches", most.launches},
                         {"program",
                          {{"exit_status", outcome.exit_status},
                           {"signal", outcome.signal == 0 ? Json() : Json(outcome.signal)}}},
                         {"seconds", outcome.seconds}});
  } else if (output.trace_path != "-") {
    printed = PrintText(
        i18n::Format("{}\n  The program used at most {} of {}, including {} for the CUDA "
                     "context.\n  Number of launches: {}\n",
                     most.device, run::FormatBytes(needed), run::FormatBytes(most.memory_bytes),
                     run::FormatBytes(most.context_bytes), most.launches));
  }
  if (printed != kDone) return printed;
  const ExitCode verdict = Verdict(seen, outcome, false);
  return verdict == kDone && !output.trace_path.empty() ? kBadInput : verdict;
}

absl::StatusOr<run::DeviceProfile> DeviceOf(const ProgramOptions& options) {
  absl::StatusOr<std::string> device = run::DeviceTextOf(
      options.device.empty() ? std::string_view(run::RunConfig().device) : options.device);
  if (device.ok() && !options.gpu_memory.empty())
    device = run::WithMemory(*device, options.gpu_memory);
  if (!device.ok()) return device.status();
  return run::FindDevice(*device);
}

// Returns a command that writes the recorded part to the output file. The command is needed if this
// process is killed.
std::vector<std::string> IfKilled(const std::string& folder, const run::DeviceProfile& device,
                                  const RunOutput& output, bool planned) {
  if (output.trace_path.empty() || output.trace_path == "-") return {};
  std::vector<std::string> command = {base::OwnPaths().vramscope.string(),
                                      planned ? "plan" : "record",
                                      "--from",
                                      folder,
                                      "-o",
                                      output.trace_path};
  if (planned) command.insert(command.end(), {"--device", device.key});
  return command;
}

// Isolates a planned program. Returns null for a recording, which is the user's real training run.
absl::StatusOr<std::unique_ptr<program::Isolation>> IsolationOf(
    const ProgramOptions& options, const std::vector<std::string>& command,
    const std::string& libraries, const std::string& output, bool planned) {
  if (!planned) return nullptr;
  const int below = options.warm.empty() ? -1 : program::UserNamespaceOf(options.warm);
  program::IsolationOptions isolation{
      .mode = options.no_isolation ? program::IsolationMode::kNone : options.isolation,
      .libraries = libraries,
      .writable = options.writable,
      .arguments = command,
      .network = !options.no_network,
      .below = below};
  isolation.writable.push_back(output);
  auto made = program::Isolation::Make(isolation);
  if (below >= 0) close(below);
  return made;
}

// The emulated GPU's context has a fixed size. If the user sets another size, the emulated GPU's
// memory is made larger or smaller, so that the allocator gets as much memory as with that
// context.
uint64_t MemoryOf(const run::DeviceProfile& device, const ProgramOptions& options) {
  // If the context alone fills the GPU, the allocator gets this many bytes, which are too few for
  // any run.
  constexpr uint64_t kLeast = uint64_t{64} << 20;
  const uint64_t beside = options.context_bytes.value_or(device.context_bytes);
  const uint64_t room = options.memory_bytes > beside ? options.memory_bytes - beside : 0;
  return device.context_bytes + std::max(room, kLeast);
}

ExitCode ReportFolder(const std::string& folder, const std::string& title,
                      const run::DeviceProfile& device, program::Outcome outcome,
                      const RunOutput& output, bool planned, const SeenProgram& use,
                      bool all_toggles = false, const std::function<void()>& unwritten = {}) {
  // If the connection broke, the data received before is used, as if the program had been killed.
  const absl::Status broken =
      absl::IsUnavailable(outcome.started) ? outcome.started : absl::OkStatus();
  if (!broken.ok()) outcome.started = absl::OkStatus();
  if (!outcome.started.ok()) return ReportError(outcome.started);
  absl::StatusOr<Program> seen =
      program::ReadProgram(folder, {.device = device, .planned = planned, .title = title});
  if (!seen.ok()) return ReportError(seen.status());
  if (seen->runs.empty()) {
    if (!broken.ok()) return ReportError(broken);
    if (outcome.interrupted) {
      Note(i18n::Text("cancelled before the program used CUDA; nothing was written"));
      return kInterrupted;
    }
    for (const std::string& warning : seen->warnings) NoteWarning(warning);
    if (!seen->unwatched.empty()) return ReportUnwatched(*seen, outcome, output);
    if (!outcome.write_error.empty())
      return ReportError(absl::InternalError(i18n::Format(
          "the program's recorded events could not be written: {}", outcome.write_error)));
    return ReportError(program::NothingSeen(*seen, outcome, planned));
  }
  const ExitCode reported =
      use ? use(*seen, outcome) : Report(*seen, outcome, output, all_toggles, unwritten);
  return broken.ok() ? reported : ReportError(broken);
}

}  // namespace

ExitCode Verdict(const Program& seen, const program::Outcome& outcome, bool out_of_memory) {
  if (!outcome.write_error.empty()) {
    NoteError(
        i18n::Format("the program's recorded events are incomplete: {}", outcome.write_error));
    return kInternalFailure;
  }
  if (outcome.interrupted) {
    Note(i18n::Text("cancelled"));
    return kInterrupted;
  }
  if (program::EndedWell(seen, outcome)) {
    if (const std::string warning = program::WarningOf(seen, outcome); !warning.empty())
      NoteWarning(warning);
    return kDone;
  }
  const About* const failed = program::FirstFailure(seen);
  const std::string why = failed == nullptr ? "" : ": " + program::WhyOf(*failed);
  NoteError(program::EndText(outcome) + why);
  return out_of_memory ? kNo : kBadInput;
}

void AddProgramOptions(CLI::App& command, ProgramOptions& options, bool planned) {
  if (planned) {
    using enum program::IsolationMode;
    std::vector<std::string> modes;
    for (const auto mode : {kAuto, kOverlay, kCopy, kNone}) modes.emplace_back(NameOf(mode));
    command.add_option("--device", options.device, kDeviceHelp)->type_name("GPU");
    command.add_option("--gpu-memory", options.gpu_memory, kGpuMemoryHelp)->type_name("SIZE");
    command
        .add_option("--ranks", options.ranks,
                    "with -- PROGRAM: start this many processes, as torchrun does")
        ->check(CLI::Range(1u, 65536u))
        ->type_name("N");
    command
        .add_option("--as-rank", options.as_rank,
                    "with -- PROGRAM and --ranks: start only the process with this rank")
        ->check(CLI::Range(int64_t{0}, int64_t{65535}))
        ->type_name("R");
    command
        .add_option(
            "--devices", options.devices,
            "with -- PROGRAM: number of GPUs that the program sees (torchrun needs several)")
        ->check(CLI::Range(1u, 64u))
        ->type_name("N");
    command.add_flag("--no-skip-init", options.no_skip_init,
                     "with -- PROGRAM: let the program initialize its parameters on the CPU. By "
                     "default, vramscope skips this slow initialization");
    CLI::Option* mode =
        command
            .add_option_function<std::string>(
                "--isolation",
                [&options](const std::string& name) {
                  for (const auto known : {kAuto, kOverlay, kCopy, kNone})
                    if (NameOf(known) == name) options.isolation = known;
                },
                "with -- PROGRAM: how the program's changes to files are isolated. `overlay` uses "
                "a mount namespace, `copy` replaces functions of libc, `none` does not isolate, "
                "and `auto` uses the first mode that works")
            ->check(CLI::IsMember(modes).description(""))
            ->type_name("MODE");
    command
        .add_flag(
            "--no-isolation", options.no_isolation,
            "with -- PROGRAM: let the program write, rename and delete files without isolation")
        ->excludes(mode);
    command.add_flag(
        "--no-network", options.no_network,
        "with -- PROGRAM: block the program's network access, except to this computer");
    command
        .add_option("--toggle", options.toggles,
                    "with -- PROGRAM: switch on a technique without editing the program; "
                    "repeatable. `vramscope toggles` lists the techniques")
        ->type_name("NAME[=VALUE]");
    // Internal options, passed by `fit`, `plan --watch` and ProgramServer.
    command.add_flag("--all-toggles", options.all_toggles)->group("");
    command.add_option("--warm", options.warm)->group("");
    command.add_option("--serve", options.serve)->group("");
    command.add_option("--modules", options.modules)->group("");
    command
        .add_option("--writable", options.writable,
                    "with -- PROGRAM: let the program write to this folder or file without "
                    "isolation; repeatable")
        ->type_name("PATH");
  }
  if (!planned) {
    CLI::Option* host = command
                            .add_option("--host", options.remote.host,
                                        "with -- PROGRAM: run the program on this host over ssh. "
                                        "vramscope must be installed on the host")
                            ->type_name("USER@HOST");
    command
        .add_option("--remote-folder", options.remote.folder,
                    "with --host: working directory on the host (default: the login directory)")
        ->needs(host)
        ->type_name("FOLDER");
    command
        .add_option(
            "--remote-vramscope", options.remote.vramscope,
            "with --host: path of vramscope on the host, if vramscope is not on the host's PATH")
        ->needs(host)
        ->type_name("PROGRAM");
    command.add_flag("--stream", options.stream)->group("");  // set on the remote host by --host
  }
  command
      .add_option("--steps", options.steps,
                  "with -- PROGRAM: stop the program after this many optimizer steps (0: let the "
                  "program run)")
      ->type_name("N");
  command.add_flag("--cpp-stacks", options.cpp_stacks,
                   "with -- PROGRAM: also record C++ frames (slow)");
  command.add_flag("--no-activities", options.no_activities,
                   "with -- PROGRAM: record memory only; leave out kernels, memcpys and API calls");
  if (!planned)
    command.add_flag("--operators", options.operators,
                     "with -- PROGRAM: record which PyTorch operator launched each kernel (costs a "
                     "fifth of a step's CPU time)");
  command
      .add_option("--keep", options.keep,
                  "with -- PROGRAM: keep the raw data of the run in this folder (see --from)")
      ->type_name("FOLDER");
  command
      .add_option(
          "--from", options.from,
          "instead of -- PROGRAM: read a folder that --keep wrote, even if the run was killed")
      ->excludes("--keep")
      ->type_name("FOLDER");
  // The window passes --outcome. While the program runs, the window reads the folder of --keep.
  command.add_option("--outcome", options.outcome)->group("");
}

ExitCode CheckOutputOf(const std::vector<std::string>& command, const ProgramOptions& options,
                       const std::string& output) {
  std::vector<std::string> inputs = command;
  inputs.push_back(options.device);
  if (WouldReplaceInput(output, inputs)) return kUsage;
  const absl::Status wrong = CheckOutput(output);
  return wrong.ok() ? kDone : ReportError(wrong);
}

ExitCode RunProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                    const RunOutput& output, bool planned, const SeenProgram& use) {
  if (command.empty() && options.from.empty()) {
    NoteError(
        i18n::Format("there is no program after --; for example: vramscope {} -- python train.py",
                     planned ? "plan" : "record"));
    return kUsage;
  }
  if (output.json && output.trace_path == "-") {
    NoteError(i18n::Text("--json and -o - both write to standard output; choose one"));
    return kUsage;
  }
  if (const ExitCode wrong = CheckOutputOf(command, options, output.trace_path); wrong != kDone)
    return wrong;
  if (planned && options.ranks > kMostRanks && options.as_rank < 0) {
    NoteError(
        i18n::Format("--ranks {}: this command starts at most {} processes; to run one rank only, "
                     "add --as-rank R",
                     options.ranks, kMostRanks));
    return kUsage;
  }
  if (options.as_rank >= 0 && options.as_rank >= options.ranks && planned) {
    NoteError(i18n::Format("--as-rank {}: expected a rank from 0 to {}", options.as_rank,
                           options.ranks - 1));
    return kUsage;
  }
  run::DeviceProfile device;
  if (planned) {
    absl::StatusOr<run::DeviceProfile> found = DeviceOf(options);
    if (!found.ok()) return ReportError(found.status());
    device = *std::move(found);
    if (options.memory_bytes > 0) device.memory_bytes = MemoryOf(device, options);
  }
  if (!options.from.empty()) {
    if (!command.empty()) {
      NoteError(i18n::Text("--from reads an existing run; remove the program after --"));
      return kUsage;
    }
    return ReportFolder(options.from, options.from, device, {}, output, planned, use);
  }
  absl::StatusOr<program::Platform> platform = program::Platform{};
  if (options.remote.host.empty()) platform = program::FindPlatform(planned);
  if (!platform.ok()) return ReportError(platform.status());
  std::string toggles;
  if (!options.toggles.empty() || options.all_toggles) {
    const absl::StatusOr<std::vector<program::Toggle>> all = program::ReadToggles(*platform);
    if (!all.ok()) return ReportError(all.status());
    const absl::StatusOr<std::vector<program::ToggleChoice>> chosen =
        program::ChooseToggles(*all, options.toggles);
    if (!chosen.ok()) {
      NoteError(std::string(chosen.status().message()));
      return kUsage;
    }
    toggles = program::ToggleVariable(*chosen);
  }
  const absl::StatusOr<std::unique_ptr<OutputFolder>> folder = OutputFolder::Make(options.keep);
  if (!folder.ok()) return ReportError(folder.status());

  absl::StatusOr<std::unique_ptr<program::Isolation>> isolation =
      IsolationOf(options, command, platform->libraries, (*folder)->path(), planned);
  if (!isolation.ok()) return ReportError(isolation.status());

  // If the window is killed, the program ends too.
  if (!options.outcome.empty()) prctl(PR_SET_PDEATHSIG, SIGTERM);
  const bool remote = !options.remote.host.empty();
  // With --host, the remote process prints this text.
  if (options.outcome.empty() && !remote)
    Note(program::BeforeText(planned, device.name, options.steps,
                             planned ? (*isolation)->Description() : ""));
  program::Outcome outcome;
  {
    ProgressBar bar(options.outcome.empty() && !options.stream);
    const PassInterruptsOn pass;
    const program::LaunchOptions launch{
        .command = command,
        .planned = planned,
        .device = device,
        .ranks = planned ? options.ranks : 1,
        .devices = options.devices,
        .as_rank = planned ? options.as_rank : -1,
        .steps = options.steps,
        .skip_init = planned && !options.no_skip_init,
        .cpp_stacks = options.cpp_stacks,
        .activities = !options.no_activities,
        .operators = planned || options.operators,
        .toggles = toggles,
        .warm = options.warm,
        .serve = options.serve,
        .modules = options.modules,
        .output = (*folder)->path(),
        .if_killed = IfKilled((*folder)->path(), device, output, planned),
        .output_goes = options.keep.empty(),
        .stdout_to_stderr = output.json || output.trace_path == "-",
        .isolation = isolation->get(),
        .progress =
            [&](const program::Progress& progress) {
              const double done = options.steps == 0 ? 0
                                                     : static_cast<double>(progress.steps) /
                                                           static_cast<double>(options.steps);
              bar.Show(std::min(done, 1.0),
                       i18n::Format("{:.0f} s, {} steps, {} recorded", progress.seconds,
                                    progress.steps, run::FormatBytes(progress.bytes)));
            },
        .interrupts = &g_interrupts};
    outcome = remote           ? program::LaunchRemote(options.remote, launch)
              : options.stream ? program::LaunchForRemote(*platform, launch, g_interrupts)
                               : program::Launch(*platform, launch);
    isolation->reset();  // takes a while; a signal must not end this process before it is done
  }
  if (options.stream || !options.serve.empty()) return kDone;
  if (!options.outcome.empty()) {
    std::ofstream(options.outcome) << program::OutcomeJson(outcome);
    return kDone;
  }
  return ReportFolder((*folder)->path(), fmt::format("{}", fmt::join(command, " ")).substr(0, 200),
                      device, std::move(outcome), output, planned, use, options.all_toggles,
                      planned ? std::function<void()>() : [&] { (*folder)->KeepRecording(); });
}

}  // namespace vramscope::cli
