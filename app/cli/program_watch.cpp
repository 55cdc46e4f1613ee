#include "app/cli/program_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "app/cli/format.h"
#include "app/cli/mcp/child.h"
#include "app/cli/output.h"
#include "app/cli/program_plans.h"
#include "app/cli/program_server.h"
#include "profiler/base/i18n.h"
#include "profiler/program/launch.h"
#include "profiler/program/saved_files.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kLook = std::chrono::milliseconds(50);
constexpr size_t kMostErrorLines = 12, kMostNames = 8;

std::atomic<bool> g_ended{false};

// While an object of this class exists, Ctrl-C and similar signals do nothing but set g_ended.
class EndsOnSignal {
 public:
  EndsOnSignal() {
    g_ended = false;
    struct sigaction action {};
    action.sa_handler = [](int) { g_ended = true; };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~EndsOnSignal() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  EndsOnSignal(const EndsOnSignal&) = delete;
  EndsOnSignal& operator=(const EndsOnSignal&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kSignals)];
};

class ProgramWatch {
 public:
  ProgramWatch(const std::vector<std::string>& command, const ProgramOptions& options,
               const RunOutput& output, bool may_serve)
      : command_(command), output_(output), may_serve_(may_serve), words_(PlanWords(options)) {
    if (!options.gpu_memory.empty())
      words_.insert(words_.end(), {"--gpu-memory", options.gpu_memory});
    if (options.no_activities) words_.emplace_back("--no-activities");
    for (const std::string& toggle : options.toggles)
      toggles_.insert(toggles_.end(), {"--toggle", toggle});
    files_.AddNamedIn(command, "");
  }

  ExitCode Run() {
    absl::StatusOr<std::unique_ptr<program::ScratchFolder>> scratch =
        program::ScratchFolder::Make();
    if (!scratch.ok()) return ReportError(scratch.status());
    scratch_ = *std::move(scratch);
    const EndsOnSignal ends;
    std::vector<std::string> saved;
    while (!g_ended) {
      if (const absl::Status planned = Plan(saved); !planned.ok()) return ReportError(planned);
      while (!g_ended && !files_.Any()) std::this_thread::sleep_for(kLook);
      // Waits until saving has ended. An editor may save several files, and may save each in
      // several steps.
      saved = files_.Take();
      while (!g_ended) {
        std::this_thread::sleep_for(kLook);
        const std::vector<std::string> more = files_.Take();
        if (more.empty()) break;
        for (const std::string& path : more)
          if (std::ranges::find(saved, path) == saved.end()) saved.push_back(path);
      }
    }
    return kDone;
  }

 private:
  // Plans once and prints the result. Prints nothing if a file was saved meanwhile.
  absl::Status Plan(const std::vector<std::string>& saved) {
    // Waits for a warm process that is still importing, because a new process would be ready later.
    while (!g_ended && !server_.Settled()) std::this_thread::sleep_for(kLook);
    const std::string kept = fmt::format("{}/plan-{}", scratch_->path(), ++started_);
    std::vector<std::string> words = words_;
    words.insert(words.end(), toggles_.begin(), toggles_.end());
    words.insert(words.end(), {"--keep", kept});
    if (!output_.trace_path.empty()) words.insert(words.end(), {"-o", output_.trace_path});
    if (!server_.socket().empty()) words.insert(words.end(), {"--warm", server_.socket()});
    words.emplace_back("--");
    words.insert(words.end(), command_.begin(), command_.end());
    const auto begin = std::chrono::steady_clock::now();
    ProgressBar bar(true);
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const absl::StatusOr<mcp::ChildOutcome> outcome = mcp::RunChild(
        words, "", [&] { return g_ended.load() || files_.Any(); },
        [&] { bar.Show(0, fmt::format("{:.0f} s", seconds())); });
    bar.Clear();
    if (!outcome.ok()) return outcome.status();
    if (!outcome->cancelled && !g_ended) Say(saved, *outcome, seconds());
    if (!outcome->cancelled && !g_ended && may_serve_) Serve(kept + "/modules.json");
    std::error_code none;
    fs::remove_all(kept, none);
    return absl::OkStatus();
  }

  void Say(const std::vector<std::string>& saved, const mcp::ChildOutcome& outcome,
           double seconds) {
    const Json json = Json::parse(outcome.out, nullptr, false);
    const absl::StatusOr<ProgramPlan> plan = PlanOf(json);
    ++plans_;
    cold_.clear();
    std::vector<std::string> error;
    std::optional<PlanFigures> now;
    if (plan.ok()) {
      cold_ = plan->cold;
      for (const Json& path : json["program"]["sources"])
        if (path.is_string()) files_.Add(path.get<std::string>());
      now = PlanFiguresOf(json, *plan);
    }
    if (!plan.ok() || (outcome.status != kDone && outcome.status != kNo)) {
      error = ErrorLines(outcome.printed);
      if (error.empty() && !outcome.notes.empty()) error = {outcome.notes.back()};
      for (const std::string& path : TracebackFiles(outcome.printed))
        if (path.find("-packages/") == std::string::npos) files_.Add(path);
      now.reset();  // the memory that the program needs is unknown
    } else if (outcome.status == kNo && plan->planned.out_of_memory) {
      error = {i18n::Text("out of memory: an allocation fails on this GPU")};
    } else if (outcome.status == kNo && !plan->planned.error.empty()) {
      error = {plan->planned.error};
    }
    if (output_.json) {
      PrintText(Answer(saved, now, error, seconds).dump() + "\n");
    } else {
      PrintText(Text(saved, now, error, seconds));
    }
    std::fflush(stdout);
    if (now) last_ = now;
  }

  Json Answer(const std::vector<std::string>& saved, const std::optional<PlanFigures>& now,
              const std::vector<std::string>& error, double seconds) const {
    const auto figures = [](const std::optional<PlanFigures>& of) {
      return of ? Json{{"peak", of->peak},
                       {"reserved", of->reserved},
                       {"needed", of->needed},
                       {"peak_by_category", of->categories}}
                : Json();
    };
    Json json = {{"plan", plans_}, {"saved", saved}, {"figures", figures(now)}};
    json["before"] = figures(last_);
    json["difference"] = Json();
    if (now && last_) {
      Json categories = Json::object();
      for (const auto& [name, bytes] : ChangedCategories(*last_, *now)) categories[name] = bytes;
      json["difference"] = {{"peak", ByteDifference(last_->peak, now->peak)},
                            {"reserved", ByteDifference(last_->reserved, now->reserved)},
                            {"categories", categories}};
    }
    json["error"] = error.empty() ? Json() : Json(fmt::format("{}", fmt::join(error, "\n")));
    json["warm"] = !server_.socket().empty() && cold_.empty();
    json["cold"] = cold_.empty() ? Json() : Json(cold_);
    json["server_bytes"] = server_.ResidentBytes() == 0 ? Json() : Json(server_.ResidentBytes());
    json["watching"] = files_.Paths();
    json["seconds"] = seconds;
    return json;
  }

  std::string Text(const std::vector<std::string>& saved, const std::optional<PlanFigures>& now,
                   const std::vector<std::string>& error, double seconds) const {
    std::string text = fmt::format("{}.", plans_);
    for (const std::string& path : saved) text += " " + Short(path);
    text += fmt::format(
        " ({:.1f} s{})\n", seconds,
        server_.socket().empty() || !cold_.empty() ? "" : i18n::Text(", modules already imported"));
    for (const std::string& line : error) text += "  " + Printable(line) + "\n";
    if (!now) {
      if (last_) text += i18n::Format("  the last successful plan: {}\n", TextOf(*last_));
    } else if (!last_) {
      text += "  " + TextOf(*now) + "\n";
    } else {
      text += Comparison(*last_, *now);
    }
    if (plans_ == 1) {
      std::vector<std::string> names;
      for (const std::string& path : files_.Paths())
        if (names.size() < kMostNames) names.push_back(Short(path));
      const size_t more = files_.Paths().size() - names.size();
      text += i18n::Format(
          "  watching {}{}; save a watched file to start a new plan, press Ctrl-C to stop\n",
          fmt::join(names, ", "), more > 0 ? i18n::Format(" and {} more", more) : "");
    } else if (plans_ == 2 && server_.ResidentBytes() > 0) {
      text += i18n::Format(
          "  a process keeps the imported modules for later plans and uses {} of host memory\n",
          run::FormatBytes(server_.ResidentBytes()));
    }
    if (!cold_.empty())
      text += i18n::Format("  this plan imported all modules again; reason: {}\n",
                           Printable(i18n::Shown(cold_)));
    return text;
  }
  static std::string TextOf(const PlanFigures& figures) {
    return i18n::Format(
        "peak {} allocated, {} reserved; with the CUDA context, the program needs {}",
        run::FormatBytes(figures.peak), run::FormatBytes(figures.reserved),
        run::FormatBytes(figures.needed));
  }
  static std::string Comparison(const PlanFigures& before, const PlanFigures& now) {
    const auto categories = ChangedCategories(before, now);
    if (before.peak == now.peak && before.reserved == now.reserved && categories.empty())
      return i18n::Format("  unchanged: {}\n", TextOf(now));
    Table table({{""},
                 {i18n::Text("Before"), Table::kRight},
                 {i18n::Text("Now"), Table::kRight},
                 {i18n::Text("Change"), Table::kRight}});
    const auto row = [&table](std::string name, uint64_t a, uint64_t b) {
      table.Row({std::move(name), run::FormatBytes(a), run::FormatBytes(b),
                 SignedBytes(ByteDifference(a, b))});
    };
    row(i18n::Text("Peak"), before.peak, now.peak);
    row(i18n::Text("Reserved"), before.reserved, now.reserved);
    const auto of = [](const PlanFigures& figures, const std::string& name) {
      const auto it = figures.categories.find(name);
      return it == figures.categories.end() ? 0 : it->second;
    };
    for (const auto& [name, bytes] : categories)
      row(i18n::Shown(name), of(before, name), of(now, name));
    return table.Text();
  }
  static std::string Short(const std::string& path) {
    std::error_code none;
    const std::string name = fs::relative(path, none).string();
    return Printable(none || name.starts_with("..") ? path : name);
  }

  // Starts a warm process if there is none, or if its imports differ from those of the last plan.
  void Serve(const std::string& modules) {
    std::string why_not;
    const std::vector<std::string> told = ReadModules(modules, &why_not);
    if (told.empty() || !why_not.empty()) {
      if (plans_ == 1 && !why_not.empty() && !told.empty())
        Note(i18n::Format("every plan imports all modules again; reason: {}", why_not));
      return;
    }
    const std::set<std::string> known(server_.modules().begin(), server_.modules().end());
    const bool lacks =
        std::ranges::any_of(told, [&](const std::string& name) { return !known.contains(name); });
    // If the plan did not use the warm process, restarting that process may help. For each reason,
    // it is restarted only once.
    const bool refused = !cold_.empty() && cold_ != restarted_for_;
    if (server_.started() && !lacks && !refused) return;
    restarted_for_ = cold_;
    std::vector<std::string> words = words_;
    std::erase(words, "--all-toggles");
    server_.Start(std::move(words), command_, modules);
  }

  const std::vector<std::string>& command_;
  const RunOutput& output_;
  const bool may_serve_;
  std::vector<std::string> words_, toggles_;
  std::unique_ptr<program::ScratchFolder> scratch_;
  ProgramServer server_;
  program::SavedFiles files_;
  std::optional<PlanFigures> last_;  // figures of the last successful plan
  std::string cold_, restarted_for_;
  int started_ = 0, plans_ = 0;
};

}  // namespace

std::vector<std::string> ErrorLines(const std::vector<std::string>& printed) {
  // A traceback ends with the error, on a line that is not indented.
  size_t last = printed.size();
  for (size_t i = printed.size(); i-- > 0 && last == printed.size();)
    if (!printed[i].empty() && printed[i][0] != ' ' && (i == 0 || printed[i - 1].starts_with("  ")))
      last = i;
  if (last == printed.size()) return {};
  size_t first = last;
  while (first > 0 && last - first + 1 < kMostErrorLines && printed[first - 1].starts_with("  ")) {
    --first;
    if (printed[first].starts_with("  File \"")) break;
  }
  return {printed.begin() + static_cast<std::ptrdiff_t>(first),
          printed.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}

std::vector<std::string> TracebackFiles(const std::vector<std::string>& printed) {
  constexpr std::string_view kBegin = "  File \"";
  std::vector<std::string> files;
  for (const std::string& line : printed) {
    if (!line.starts_with(kBegin)) continue;
    const size_t end = line.find("\", line ");
    if (end == std::string::npos) continue;
    files.push_back(line.substr(kBegin.size(), end - kBegin.size()));
  }
  return files;
}

ExitCode WatchProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                      const RunOutput& output) {
  if (command.empty()) {
    NoteError(i18n::Text(
        "the program after -- is missing; for example: vramscope plan --watch -- python train.py"));
    return kUsage;
  }
  if (!options.keep.empty() || !options.from.empty() || output.trace_path == "-") {
    NoteError(
        i18n::Text("--watch makes a plan after every change and cannot be combined with --keep, "
                   "--from or -o -"));
    return kUsage;
  }
  if (const ExitCode wrong = CheckOutputOf(command, options, output.trace_path); wrong != kDone)
    return wrong;
  bool may_serve = options.as_rank < 0;
  if (!options.toggles.empty()) {
    const absl::StatusOr<program::Platform> platform = program::FindPlatform(true);
    if (!platform.ok()) return ReportError(platform.status());
    const absl::StatusOr<std::vector<program::Toggle>> all = program::ReadToggles(*platform);
    if (!all.ok()) return ReportError(all.status());
    const auto chosen = program::ChooseToggles(*all, options.toggles);
    if (!chosen.ok()) {
      NoteError(std::string(chosen.status().message()));
      return kUsage;
    }
    for (const std::string& toggle : options.toggles) {
      const program::Toggle* const one =
          program::FindToggle(*all, toggle.substr(0, toggle.find('=')));
      // Toggles that set environment variables need a new process: PyTorch may read them on
      // import.
      may_serve = may_serve && (one == nullptr || !one->before_torch);
    }
  }
  return ProgramWatch(command, options, output, may_serve).Run();
}

}  // namespace vramscope::cli
