#include "app/cli/program_versions.h"

#include <absl/strings/str_split.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/mcp/child.h"
#include "app/cli/program_environments.h"
#include "app/cli/program_plans.h"
#include "app/cli/program_watch.h"
#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/explain.h"
#include "profiler/program/scratch_folder.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

constexpr size_t kMostVersions = 32, kMostChanges = 12;
using Changes = std::vector<std::pair<std::string, int64_t>>;
using TracePointer = std::shared_ptr<const trace::Trace>;

struct VersionRow {
  std::string version;
  ProgramEnvironment environment;
  std::optional<PlanFigures> figures;  // nullopt: `error` says why
  std::string error;
  double seconds = 0;
};

// The change from one planned version to the next.
struct VersionChange {
  const VersionRow *from = nullptr, *to = nullptr;
  Changes categories, modules;
  std::vector<explain::TraceDiff::Site> sites;  // only call sites that changed
  bool by_stack = false;
};

std::map<std::string, uint64_t> ModulesAtPeak(const trace::Trace& trace) {
  const analysis::Peak peak = analysis::FindPeak(trace, analysis::ComputeCurves(trace));
  const analysis::LiveSet live = analysis::LiveAt(trace, peak.context.event);
  std::map<std::string, uint64_t> bytes;
  for (const analysis::Group& group : analysis::GroupLive(trace, live, analysis::GroupBy::kModule))
    bytes[group.name] += group.bytes;
  return bytes;
}

absl::StatusOr<VersionChange> ChangeOf(const VersionRow& from, const trace::Trace& a,
                                       const VersionRow& to, const trace::Trace& b) {
  VersionChange change{.from = &from, .to = &to};
  change.categories = ChangedCategories(*from.figures, *to.figures);
  change.modules = ChangedBytes(ModulesAtPeak(a), ModulesAtPeak(b));
  absl::StatusOr<explain::TraceDiff> diff = explain::DiffTraces(a, b, std::nullopt, true);
  if (!diff.ok()) return diff.status();
  change.by_stack = diff->by_stack;
  for (explain::TraceDiff::Site& site : diff->sites)
    if (site.change != explain::TraceDiff::Change::kSame) change.sites.push_back(std::move(site));
  return change;
}

class VersionPlans {
 public:
  VersionPlans(const std::vector<std::string>& command, const ProgramOptions& options,
               PackageVersions with, const RunOutput& output, ProgramEnvironments environments)
      : command_(command),
        with_(std::move(with)),
        json_(output.json),
        environments_(std::move(environments)),
        words_(PlanWords(options)) {
    if (!options.gpu_memory.empty())
      words_.insert(words_.end(), {"--gpu-memory", options.gpu_memory});
    if (options.no_activities) words_.emplace_back("--no-activities");
    for (const std::string& toggle : options.toggles)
      words_.insert(words_.end(), {"--toggle", toggle});
  }

  ExitCode Run() {
    absl::StatusOr<std::unique_ptr<program::ScratchFolder>> scratch =
        program::ScratchFolder::Make();
    if (!scratch.ok()) return ReportError(scratch.status());
    rows_.reserve(with_.versions.size());  // changes point into rows_
    const VersionRow* before = nullptr;
    TracePointer trace_before;
    for (const std::string& version : with_.versions) {
      const std::string path = fmt::format("{}/{}.trace", (*scratch)->path(), rows_.size());
      VersionRow& row = rows_.emplace_back();
      row.version = version;
      if (const absl::Status planned = Plan(row, path); !planned.ok()) return ReportError(planned);
      if (!row.figures) continue;
      absl::StatusOr<TracePointer> trace = OpenTrace(path);
      if (!trace.ok()) return ReportError(trace.status());
      TracePointer shown = ShownOf(*std::move(trace));
      if (before != nullptr) {
        absl::StatusOr<VersionChange> change = ChangeOf(*before, *trace_before, row, *shown);
        if (!change.ok()) return ReportError(change.status());
        changes_.push_back(*std::move(change));
      }
      before = &row;
      trace_before = std::move(shown);
      std::error_code none;
      std::filesystem::remove(path, none);
    }
    const ExitCode printed = json_ ? PrintJson(Answer()) : PrintText(Text());
    if (printed != kDone) return printed;
    return std::ranges::all_of(rows_, [](const VersionRow& row) { return row.error.empty(); })
               ? kDone
               : kNo;
  }

 private:
  // Returns an error only if plans cannot be started. The error of a failed plan goes into the row.
  absl::Status Plan(VersionRow& row, const std::string& path) {
    absl::StatusOr<ProgramEnvironment> environment = environments_.Get(with_.package, row.version);
    row.environment.folder = environments_.FolderOf(with_.package, row.version);
    if (!environment.ok()) {
      row.error = std::string(environment.status().message());
      return absl::OkStatus();
    }
    row.environment = *std::move(environment);
    const char* own = std::getenv("PYTHONPATH");
    const std::string variable =
        fmt::format("PYTHONPATH={}{}{}", row.environment.folder,
                    own == nullptr || *own == '\0' ? "" : ":", own == nullptr ? "" : own);
    std::vector<std::string> words = words_;
    words.insert(words.end(), {"-o", path, "--"});
    words.insert(words.end(), command_.begin(), command_.end());
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    ProgressBar bar(true);
    const absl::StatusOr<mcp::ChildOutcome> outcome = mcp::RunOther(
        "", words, {variable}, "", [] { return false; },
        [&] {
          bar.Show(
              static_cast<double>(rows_.size() - 1) / static_cast<double>(with_.versions.size()),
              fmt::format("{}=={}: {:.0f} s", with_.package, row.version, seconds()));
        });
    bar.Clear();
    if (!outcome.ok()) return outcome.status();
    row.seconds = seconds();
    Take(row, *outcome);
    return absl::OkStatus();
  }

  static void Take(VersionRow& row, const mcp::ChildOutcome& outcome) {
    const Json json = Json::parse(outcome.out, nullptr, false);
    const absl::StatusOr<ProgramPlan> plan = PlanOf(json);
    if (!plan.ok() || (outcome.status != kDone && outcome.status != kNo)) {
      std::vector<std::string> lines = ErrorLines(outcome.printed);
      if (lines.empty() && !outcome.notes.empty()) lines = {outcome.notes.back()};
      if (lines.empty()) lines = {i18n::Format("exit status {}", outcome.status)};
      row.error = fmt::format("{}", fmt::join(lines, "\n"));
      return;
    }
    row.figures = PlanFiguresOf(json, *plan);
    if (plan->planned.out_of_memory)
      row.error = i18n::Text(
          "out of memory: an allocation fails on this GPU. The program needs more memory than this "
          "row shows. To give the GPU more memory, use --gpu-memory");
    else if (!plan->planned.error.empty())
      row.error = plan->planned.error;
  }

  Json Answer() const {
    Json json = {{"package", with_.package}, {"python", environments_.python()}};
    json["rows"] = Json::array();
    for (const VersionRow& row : rows_) {
      Json one = {{"version", row.version},
                  {"environment", row.environment.folder},
                  {"kept", row.environment.existed},
                  {"packages", row.environment.packages}};
      const auto figure = [&](uint64_t PlanFigures::*of) {
        return row.figures ? Json(*row.figures.*of) : Json();
      };
      one["peak"] = figure(&PlanFigures::peak);
      one["reserved"] = figure(&PlanFigures::reserved);
      one["needed"] = figure(&PlanFigures::needed);
      one["peak_by_category"] = row.figures ? Json(row.figures->categories) : Json();
      one["error"] = row.error.empty() ? Json() : Json(row.error);
      one["seconds"] = row.seconds;
      json["rows"].push_back(std::move(one));
    }
    json["changes"] = Json::array();
    for (const VersionChange& change : changes_) json["changes"].push_back(ChangeJson(change));
    return json;
  }

  static Json ChangeJson(const VersionChange& change) {
    const PlanFigures &a = *change.from->figures, &b = *change.to->figures;
    const auto bytes = [](const Changes& changes) {
      Json json = Json::object();
      for (const auto& [name, delta] : changes) json[name] = delta;
      return json;
    };
    Json json = {
        {"from", change.from->version},
        {"to", change.to->version},
        {"peak", ByteDifference(a.peak, b.peak)},
        {"reserved", ByteDifference(a.reserved, b.reserved)},
        {"needed", ByteDifference(a.needed, b.needed)},
        {"categories", bytes(change.categories)},
        {"modules", bytes(change.modules)},
        {"matched_by", change.by_stack ? i18n::Text("stack") : i18n::Text("module and op")},
        {"sites", Json::array()}};
    for (const explain::TraceDiff::Site& site : change.sites)
      json["sites"].push_back({{"name", site.name},
                               {"change", std::string(explain::Name(site.change))},
                               {"category", std::string(trace::Name(site.category))},
                               {"a", site.a_bytes},
                               {"b", site.b_bytes},
                               {"delta", site.delta()}});
    return json;
  }

  std::string Text() const {
    Table table({{with_.package, Table::kLeft, true},
                 {i18n::Text("Peak"), Table::kRight},
                 {i18n::Text("Reserved"), Table::kRight},
                 {i18n::Text("Needs"), Table::kRight},
                 {""}});
    for (const VersionRow& row : rows_) {
      const auto cell = [&](uint64_t PlanFigures::*of) {
        return row.figures ? run::FormatBytes(*row.figures.*of) : std::string();
      };
      table.Row({row.version, cell(&PlanFigures::peak), cell(&PlanFigures::reserved),
                 cell(&PlanFigures::needed),
                 !row.error.empty()                 ? i18n::Text("failed, see below")
                 : row.environment.packages.empty() ? i18n::Text("the program's own version")
                                                    : ""});
    }
    std::string text = table.Text();
    for (const VersionRow& row : rows_) {
      if (row.error.empty()) continue;
      text += fmt::format("\n{}=={}\n", with_.package, row.version);
      const std::vector<std::string> lines = absl::StrSplit(row.error, '\n');
      for (const std::string& line : lines) text += Prose(line);
    }
    for (const VersionChange& change : changes_) text += ChangeText(change);
    return text;
  }

  static std::string ChangeText(const VersionChange& change) {
    const PlanFigures &a = *change.from->figures, &b = *change.to->figures;
    std::string text =
        i18n::Format("\n{} -> {}: peak {}, reserved {}, needed {}\n", change.from->version,
                     change.to->version, SignedBytes(ByteDifference(a.peak, b.peak)),
                     SignedBytes(ByteDifference(a.reserved, b.reserved)),
                     SignedBytes(ByteDifference(a.needed, b.needed)));
    Table table({{i18n::Text("Change at the peak"), Table::kRight}, {"By"}, {i18n::Text("Name")}});
    const auto add = [&](const std::string& by, const Changes& changes) {
      for (size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i)
        table.Row({SignedBytes(changes[i].second), by, Printable(changes[i].first)});
    };
    add("category", change.categories);
    add("module", change.modules);
    Changes sites;
    for (const explain::TraceDiff::Site& site : change.sites)
      sites.emplace_back(site.name, site.delta());
    add(i18n::Text("call site"), sites);
    if (change.categories.empty() && change.modules.empty() && sites.empty())
      return text + Prose(i18n::Text("Nothing changed at the peak."));
    text += table.Text();
    if (const size_t more = std::max(sites.size(), change.modules.size()); more > kMostChanges)
      text += Prose(i18n::Format(
          "The table shows the {} largest changes of each kind; --json prints all changes.",
          kMostChanges));
    return text;
  }

  const std::vector<std::string>& command_;
  const PackageVersions with_;
  const bool json_;
  const ProgramEnvironments environments_;
  std::vector<std::string> words_;  // arguments of `plan` before -o
  std::vector<VersionRow> rows_;
  std::vector<VersionChange> changes_;
};

bool IsWord(std::string_view text, std::string_view others) {
  return !text.empty() && text.size() <= 100 &&
         std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
         std::ranges::all_of(text, [&](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  others.find(c) != std::string_view::npos;
         });
}

absl::Status WithError() {
  return absl::InvalidArgumentError(
      i18n::Text("--with: expected PACKAGE==VERSION,VERSION, such as transformers==4.46.0,4.51.0"));
}

}  // namespace

absl::StatusOr<PackageVersions> ParsePackageVersions(std::string_view text) {
  const size_t equals = text.find("==");
  if (equals == std::string_view::npos) return WithError();
  PackageVersions with{.package = std::string(text.substr(0, equals)),
                       .versions = absl::StrSplit(std::string(text.substr(equals + 2)), ',')};
  if (!IsWord(with.package, "._-")) return WithError();
  for (size_t i = 0; i < with.versions.size(); ++i) {
    if (!IsWord(with.versions[i], "._-+!")) return WithError();
    if (std::find(with.versions.begin(), with.versions.begin() + static_cast<std::ptrdiff_t>(i),
                  with.versions[i]) != with.versions.begin() + static_cast<std::ptrdiff_t>(i))
      return absl::InvalidArgumentError(
          i18n::Format("--with: version {} is given twice", with.versions[i]));
  }
  if (with.versions.size() > kMostVersions)
    return absl::InvalidArgumentError(
        i18n::Format("--with: too many versions; give at most {}", kMostVersions));
  std::string name = with.package;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "torch")
    return absl::InvalidArgumentError(
        i18n::Text("--with: the program keeps its own PyTorch; to plan with another version of "
                   "PyTorch, use a Python with that version: -- /path/to/python train.py"));
  return with;
}

ExitCode PlanVersions(const std::vector<std::string>& command, const ProgramOptions& options,
                      const std::string& with, const RunOutput& output) {
  if (command.empty()) {
    NoteError(
        i18n::Text("the program after -- is missing; for example: vramscope plan --with "
                   "transformers==4.46.0,4.51.0 -- python train.py"));
    return kUsage;
  }
  absl::StatusOr<PackageVersions> versions = ParsePackageVersions(with);
  if (!versions.ok()) {
    NoteError(std::string(versions.status().message()));
    return kUsage;
  }
  if (options.watch || !options.keep.empty() || !options.from.empty() ||
      !output.trace_path.empty()) {
    NoteError(i18n::Text(
        "--with makes several plans and cannot be combined with --watch, --keep, --from or -o"));
    return kUsage;
  }
  absl::StatusOr<ProgramEnvironments> environments = ProgramEnvironments::Of(command);
  if (!environments.ok()) {
    NoteError(std::string(environments.status().message()));
    return kUsage;
  }
  return VersionPlans(command, options, *std::move(versions), output, *std::move(environments))
      .Run();
}

}  // namespace vramscope::cli
