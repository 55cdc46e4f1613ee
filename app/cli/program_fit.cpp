#include "app/cli/program_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "app/cli/format.h"
#include "app/cli/program_plans.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "app/cli/toggles.h"
#include "profiler/base/i18n.h"
#include "profiler/fit/switches.h"
#include "profiler/program/launch.h"
#include "profiler/program/vary.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

using fit::Planned;
using fit::SwitchProposal;
using program::Toggle;
using program::ToggleReport;

constexpr size_t kMostCombinations = 256;

run::Changes ChangesOf(const Toggle& toggle) {
  if (toggle.changes == "nothing") return run::Changes::kNothing;
  return toggle.changes == "rounding" ? run::Changes::kRounding : run::Changes::kTraining;
}
std::string_view NameOf(run::Changes changes) {
  constexpr std::string_view kNames[] = {"nothing", "rounding", "training"};
  return kNames[static_cast<size_t>(changes)];
}

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Searches for the toggles with which one program fits into the budget.
class ProgramFit {
 public:
  ProgramFit(const std::vector<std::string>& command, const ProgramFitOptions& options,
             uint64_t budget, std::vector<Toggle> all)
      : command_(command),
        options_(options),
        budget_(budget),
        all_(std::move(all)),
        plans_(options.program, budget, all_) {}

  ExitCode Run() {
    ProgressBar bar(true);
    plans_.progress = [&](size_t done, size_t of) {
      bar.Show(std::min(SecondsSince(begin_) / options_.patience, 1.0),
               i18n::Format("{:.0f} s, {} plans; current round: {} of {} plans",
                            SecondsSince(begin_), plans_.plans(), done, of));
    };
    const absl::StatusOr<std::vector<ProgramPlan>> start = plans_.All({Question({})});
    if (!start.ok()) return ReportError(start.status());
    start_ = start->front();
    if (!start_.planned.ok())
      return ReportError(absl::InvalidArgumentError(
          i18n::Format("planning the unchanged program failed: {}", start_.planned.error)));
    FindSwitches();
    fit::SwitchSearch search{.start = start_.planned,
                             .budget = budget_,
                             .switches = switches_,
                             .excluded = [&](size_t a, size_t b) { return Excluded(a, b); },
                             .plan = [&](const auto& sets) { return Plan(sets); },
                             .at_once = ProgramPlans::SideBySide()};
    search.patience = std::chrono::milliseconds(
        static_cast<int64_t>(1000 * std::max(0.0, options_.patience - SecondsSince(begin_))));
    absl::StatusOr<fit::SwitchesFitted> fitted = fit::FitSwitches(search);
    if (!fitted.ok()) return ReportError(fitted.status());
    bar.Clear();
    const bool any = std::ranges::any_of(fitted->proposals, [&](const SwitchProposal& one) {
      return one.planned.FitsInto(budget_);
    });
    const ExitCode printed = options_.json ? PrintJson(Answer(*fitted)) : PrintText(Text(*fitted));
    return printed != kDone ? printed : any || StartFits() ? kDone : kNo;
  }

 private:
  bool StartFits() const { return start_.planned.FitsInto(budget_); }

  ProgramQuestion Question(const fit::SwitchSet& set) const {
    ProgramQuestion question{.command = command_, .toggles = options_.program.toggles};
    for (const size_t i : set) question.toggles.push_back(TextOf(i));
    return question;
  }
  std::string TextOf(size_t i) const {
    return switches_[i].value.empty() ? switches_[i].name
                                      : switches_[i].name + "=" + switches_[i].value;
  }
  bool Excluded(size_t a, size_t b) const {
    return !program::WhyExcluded(all_, switches_[a].name, switches_[b].name).empty();
  }

  // Finds the toggles that apply to the program. The program's first plan reports them.
  void FindSwitches() {
    for (const ToggleReport& report : start_.toggles) {
      const Toggle* const toggle = program::FindToggle(all_, report.name);
      if (toggle == nullptr || report.on || !report.applies()) continue;
      const bool goes_with_given = std::ranges::all_of(start_.toggles, [&](const ToggleReport& on) {
        return !on.on || program::WhyExcluded(all_, on.name, report.name).empty();
      });
      if (!goes_with_given) continue;
      for (size_t i = 0; i < report.proposals.size(); ++i)
        switches_.push_back(
            {.name = report.name,
             .value = report.proposals[i],
             .changes = ChangesOf(*toggle),
             .slow = toggle->slow,
             .expected = Expected(*toggle, i < report.shares.size() ? report.shares[i] : 1),
             .reduces_only =
                 toggle->reduces.size() == 1 ? toggle->reduces.begin()->first : std::string()});
    }
  }

  // Estimates how many bytes of this program's peak the toggle may save. Returns nullopt if the
  // toggle does not declare what it reduces.
  std::optional<uint64_t> Expected(const Toggle& toggle, double share) const {
    if (toggle.reduces.empty() || start_.categories.empty()) return std::nullopt;
    if (!toggle.reduces_in.empty() && toggle.reduces_in != start_.peak_phase) return 0;
    double bytes = 0;
    for (const auto& [name, part] : toggle.reduces) {
      const auto there = start_.categories.find(name);
      if (there != start_.categories.end()) bytes += part * static_cast<double>(there->second);
      if (name == "cached" && start_.planned.reserved > start_.planned.peak)
        bytes += part * static_cast<double>(start_.planned.reserved - start_.planned.peak);
    }
    return static_cast<uint64_t>(bytes * share);
  }
  // Ignores differences below a thousandth of the needed memory, because rounding may cause them.
  bool HasEffect(const Planned& planned) const {
    const uint64_t with = planned.needed(), without = start_.planned.needed();
    return std::max(with, without) - std::min(with, without) > without / 1000;
  }

  absl::StatusOr<std::vector<Planned>> Plan(const std::vector<fit::SwitchSet>& sets) {
    std::vector<ProgramQuestion> questions;
    for (const fit::SwitchSet& set : sets) questions.push_back(Question(set));
    const absl::StatusOr<std::vector<ProgramPlan>> done = plans_.All(questions);
    if (!done.ok()) return done.status();
    std::vector<Planned> planned;
    for (const ProgramPlan& plan : *done) planned.push_back(plan.planned);
    return planned;
  }

  // Returns the plan of the proposal. The search has already made that plan.
  ProgramPlan PlanOf(const SwitchProposal& proposal) {
    const auto known = plans_.All({Question(proposal.set)});
    return known.ok() ? known->front() : ProgramPlan{};
  }

  double TimeFactor(const Planned& planned) const {
    return start_.planned.step_ms > 0 ? planned.step_ms / start_.planned.step_ms : 0;
  }

  Json PlannedJson(const Planned& planned) const {
    const double factor = TimeFactor(planned);
    Json json = FiguresJson(planned);
    json["time_factor"] = factor > 0 ? Json(factor) : Json();
    json["fits"] = planned.FitsInto(budget_);
    return json;
  }

  Json Answer(const fit::SwitchesFitted& fitted) {
    Json json;
    json["budget"] = budget_;
    json["device"] = start_.device;
    json["model"] = start_.model;
    json["start"] = PlannedJson(start_.planned);
    json["proposals"] = Json::array();
    for (const SwitchProposal& proposal : fitted.proposals) {
      Json row = PlannedJson(proposal.planned);
      row["changes"] = NameOf(proposal.changes);
      row["toggles"] = TogglesJson(PlanOf(proposal).toggles, false);
      json["proposals"].push_back(std::move(row));
    }
    json["single"] = Json::array();
    for (const SwitchProposal& single : fitted.singles) {
      Json row = {{"toggle", TextOf(single.set.front())}, {"changes", NameOf(single.changes)}};
      if (single.planned.ok()) {
        row.update(PlannedJson(single.planned));
        row.update(EffectJson(start_.planned, single.planned));
        row["effect"] = HasEffect(single.planned);
      }
      row["error"] = single.planned.ok() ? Json() : Json(single.planned.error);
      json["single"].push_back(std::move(row));
    }
    json["not_planned"] = Json::array();
    for (const size_t i : NotPlanned(fitted))
      json["not_planned"].push_back(
          {{"toggle", TextOf(i)},
           {"expected", switches_[i].expected ? Json(*switches_[i].expected) : Json()}});
    json["does_not_apply"] = Json::array();
    for (const ToggleReport& report : start_.toggles)
      if (!report.on && !report.applies())
        json["does_not_apply"].push_back(
            {{"toggle", report.name}, {"why", report.why}, {"already_on", report.already_on}});
    json["plans"] = plans_.plans();
    json["cold"] = plans_.cold().empty() ? Json() : Json(plans_.cold());
    json["server_bytes"] = plans_.ServerBytes() == 0 ? Json() : Json(plans_.ServerBytes());
    json["cut_short"] = fitted.cut_short;
    json["seconds"] = SecondsSince(begin_);
    json["assumptions"] = start_.assumptions;
    return json;
  }

  std::string ProposalText(size_t number, const SwitchProposal& proposal) {
    const Planned& planned = proposal.planned;
    std::string text =
        i18n::Format("{}. {}: peak {}, reserved {}, needs {} ({}), {:.2f} x the step time\n",
                     number, fmt::format("{}", fmt::join(Question(proposal.set).toggles, " + ")),
                     run::FormatBytes(planned.peak), run::FormatBytes(planned.reserved),
                     run::FormatBytes(planned.needed()),
                     planned.FitsInto(budget_)
                         ? i18n::Format("{} to spare", run::FormatBytes(budget_ - planned.needed()))
                     : planned.needed() > budget_
                         ? i18n::Format("{} too much", run::FormatBytes(planned.needed() - budget_))
                         : i18n::Text("an allocation fails"),
                     TimeFactor(planned));
    text += Prose(fmt::format("{}.", TextOfChanges(proposal.changes)));
    return text + LinesText(PlanOf(proposal).toggles) + "\n";
  }
  static std::string TextOfChanges(run::Changes changes) {
    if (changes == run::Changes::kNothing) return i18n::Text("The training does not change");
    return changes == run::Changes::kRounding
               ? i18n::Text("The training is the same except for rounding")
               : i18n::Text("The training changes");
  }

  std::string Text(const fit::SwitchesFitted& fitted) {
    std::string text = i18n::Format(
        "{}, {}: now needs {}, takes {} a step, and {} the budget of {}\n\n",
        Printable(start_.model), Printable(start_.device),
        run::FormatBytes(start_.planned.needed()), Milliseconds(start_.planned.step_ms),
        StartFits() ? i18n::Text("fits") : i18n::Text("does not fit"), run::FormatBytes(budget_));
    const bool any = std::ranges::any_of(
        fitted.proposals, [&](const SwitchProposal& one) { return one.planned.FitsInto(budget_); });
    if (!any && !fitted.proposals.empty())
      text += i18n::Text("None of the tried combinations fits. The smallest combination:") + "\n\n";
    if (StartFits()) return text + Footer(fitted);
    if (fitted.proposals.empty())
      text += i18n::Text(
          "No toggle applies to this program, or no toggle that applies could be planned.\n\n");
    for (size_t i = 0; i < fitted.proposals.size(); ++i)
      text += ProposalText(i + 1, fitted.proposals[i]);
    if (!fitted.singles.empty()) text += SinglesText(fitted);
    const std::vector<size_t> others = NotPlanned(fitted);
    if (!others.empty()) {
      std::vector<std::string> names;
      for (const size_t i : others) names.push_back(TextOf(i));
      text += fitted.singles.empty() ? "" : "\n";
      text += Prose(i18n::Format("vramscope did not plan these toggles individually: {}.",
                                 fmt::join(names, ", ")));
    }
    if (!any)
      text += "\n" + Prose(i18n::Text(
                         "A smaller batch or a shorter sequence may fit. If an argument of the "
                         "program sets it, plan other values with --vary, for example --vary "
                         "batch_size=1..8."));
    return text + "\n" + Footer(fitted);
  }
  // Returns the last lines of the output, which say how the plans were made.
  std::string Footer(const fit::SwitchesFitted& fitted) const {
    std::string text;
    if (!plans_.cold().empty())
      text += Prose(i18n::Format("Some plans had to import the modules again. Reason: {}.",
                                 i18n::Shown(plans_.cold()))) +
              "\n";
    if (plans_.ServerBytes() > 0)
      text += Prose(i18n::Format("During planning, a process holds the program's imported modules "
                                 "and uses {} of host memory.",
                                 run::FormatBytes(plans_.ServerBytes()))) +
              "\n";
    return text + Prose(i18n::Format(
                      "Plans: {}, made in {:.0f} s{}. Times are modelled. `vramscope "
                      "toggles -- ...` shows why other toggles do not apply.",
                      plans_.plans(), SecondsSince(begin_),
                      fitted.cut_short ? i18n::Text(", then the time limit (--patience) ended the "
                                                    "search, so other combinations may fit, too")
                                       : ""));
  }
  std::vector<size_t> NotPlanned(const fit::SwitchesFitted& fitted) const {
    std::vector<size_t> others;
    for (size_t i = 0; i < switches_.size(); ++i)
      if (std::ranges::none_of(fitted.singles,
                               [&](const SwitchProposal& one) { return one.set.front() == i; }))
        others.push_back(i);
    return others;
  }
  // Returns what a toggle did when planned alone, or "" if the figures show that it had an effect.
  std::string OutcomeOf(const SwitchProposal& single) {
    const ProgramPlan plan = PlanOf(single);
    for (const ToggleReport& report : plan.toggles)
      if (report.on && report.name == switches_[single.set.front()].name && !report.applies())
        return Printable(OutcomeText(report));
    return HasEffect(single.planned)
               ? ""
               : i18n::Format("applied; {}", EffectText(start_.planned, single.planned));
  }
  std::string SinglesText(const fit::SwitchesFitted& fitted) {
    Table table({{i18n::Text("Single toggle"), Table::kLeft, true},
                 {i18n::Text("Needs"), Table::kRight},
                 {i18n::Text("Time"), Table::kRight},
                 {i18n::Text("Training")},
                 {""}});
    for (const SwitchProposal& single : fitted.singles) {
      const Planned& planned = single.planned;
      const std::string name = TextOf(single.set.front());
      if (!planned.ok()) {
        table.Row({name, "", "", std::string(Meaning(single.changes)), Printable(planned.error)});
        continue;
      }
      table.Row({name,
                 SignedBytes(static_cast<int64_t>(planned.needed()) -
                             static_cast<int64_t>(start_.planned.needed())),
                 fmt::format("{:.2f} x", TimeFactor(planned)), std::string(Meaning(single.changes)),
                 OutcomeOf(single)});
    }
    return table.Text();
  }
  static std::string_view Meaning(run::Changes changes) {
    constexpr const char* kNames[] = {TEXT_MARK("unchanged"), TEXT_MARK("different rounding"),
                                      TEXT_MARK("changed")};
    return i18n::Text(kNames[static_cast<size_t>(changes)]);
  }

  const std::vector<std::string>& command_;
  const ProgramFitOptions& options_;
  const uint64_t budget_;
  const std::vector<Toggle> all_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  ProgramPlans plans_;
  ProgramPlan start_;
  std::vector<fit::Switch> switches_;
};

// Plans a program with other values of the program's own arguments, and shows the plans as a table.
class ProgramVary {
 public:
  ProgramVary(const std::vector<std::string>& command, const ProgramFitOptions& options,
              std::optional<uint64_t> budget, std::vector<program::Variation> variations,
              const std::vector<Toggle>& all)
      : command_(command),
        options_(options),
        budget_(budget),
        variations_(std::move(variations)),
        plans_(options.program, budget.value_or(0), all) {}

  ExitCode Run() {
    if (const absl::Status status = Combine(); !status.ok()) {
      NoteError(std::string(status.message()));
      return kUsage;
    }
    ProgressBar bar(true);
    plans_.progress = [&](size_t done, size_t of) {
      bar.Show(static_cast<double>(done) / static_cast<double>(of),
               i18n::Format("{:.0f} s, {} of {} plans", SecondsSince(begin_), done, of));
    };
    std::vector<ProgramQuestion> questions;
    for (const Row& row : rows_) questions.push_back(row.question);
    const absl::StatusOr<std::vector<ProgramPlan>> done = plans_.All(questions);
    if (!done.ok()) return ReportError(done.status());
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i].plan = (*done)[i];
    if (const absl::Status status = FindLargest(); !status.ok()) return ReportError(status);
    bar.Clear();
    const ExitCode printed = options_.json ? PrintJson(Answer()) : PrintText(Text());
    if (printed != kDone) return printed;
    if (std::ranges::none_of(rows_, [](const Row& row) { return row.plan.planned.ok(); }))
      return kBadInput;
    return budget_ && std::ranges::none_of(rows_, [&](const Row& row) { return Fits(row); })
               ? kNo
               : kDone;
  }

 private:
  struct Row {
    std::vector<std::string> values;  // one value for each variation, in the same order
    ProgramQuestion question;
    ProgramPlan plan;
  };

  bool Fits(const Row& row) const {
    return budget_ ? row.plan.planned.FitsInto(*budget_)
                   : row.plan.planned.ok() && !row.plan.planned.out_of_memory;
  }

  absl::StatusOr<Row> RowOf(const std::vector<std::string>& values) const {
    Row row;
    row.values = values;
    row.question = {command_, options_.program.toggles};
    for (size_t i = 0; i < values.size(); ++i) {
      absl::StatusOr<std::vector<std::string>> words =
          program::WithValue(row.question.command, variations_[i].name, values[i]);
      if (!words.ok()) return words.status();
      row.question.command = *std::move(words);
    }
    return row;
  }

  absl::Status Combine() {
    std::vector<std::vector<std::string>> all = {{}};
    for (const program::Variation& variation : variations_) {
      std::vector<std::vector<std::string>> more;
      for (const auto& values : all)
        for (const std::string& value : variation.values) {
          more.push_back(values);
          more.back().push_back(value);
        }
      all = std::move(more);
      if (all.size() > kMostCombinations)
        return absl::InvalidArgumentError(
            i18n::Format("--vary: the values have more than {} combinations; give fewer values",
                         kMostCombinations));
    }
    for (const auto& values : all) {
      absl::StatusOr<Row> row = RowOf(values);
      if (!row.ok()) return row.status();
      rows_.push_back(*row);
    }
    return absl::OkStatus();
  }

  // If there is one range and a budget, searches for the largest value that fits. The search is
  // between the last row that fits and the first row that does not fit.
  absl::Status FindLargest() {
    if (variations_.size() != 1 || !variations_[0].is_range || !budget_) return absl::OkStatus();
    const auto first_not = std::ranges::find_if(rows_, [&](const Row& row) { return !Fits(row); });
    if (first_not == rows_.begin()) return absl::OkStatus();
    int64_t fits = *run::ParseInteger((first_not - 1)->values[0]);
    if (first_not != rows_.end()) {
      int64_t not_any_more = *run::ParseInteger(first_not->values[0]);
      while (not_any_more - fits > 1) {
        const int64_t middle = fits + (not_any_more - fits) / 2;
        absl::StatusOr<Row> row = RowOf({std::to_string(middle)});
        if (!row.ok()) return row.status();
        const absl::StatusOr<std::vector<ProgramPlan>> done = plans_.All({row->question});
        if (!done.ok()) return done.status();
        row->plan = done->front();
        (Fits(*row) ? fits : not_any_more) = middle;
        rows_.push_back(*row);
      }
    }
    largest_ = fits;
    std::ranges::stable_sort(rows_, {},
                             [](const Row& row) { return *run::ParseInteger(row.values[0]); });
    return absl::OkStatus();
  }

  Json Answer() const {
    Json json;
    json["budget"] = budget_ ? Json(*budget_) : Json();
    json["vary"] = Json::array();
    for (const program::Variation& variation : variations_) json["vary"].push_back(variation.name);
    json["rows"] = Json::array();
    for (const Row& row : rows_) {
      const Planned& planned = row.plan.planned;
      Json one = {{"values", row.values}};
      if (planned.ok()) {
        one.update(FiguresJson(planned));
        one["fits"] = Fits(row);
      }
      one["error"] = planned.ok() ? Json() : Json(planned.error);
      json["rows"].push_back(std::move(one));
    }
    json["largest"] = largest_ > 0 ? Json(largest_) : Json();
    json["plans"] = plans_.plans();
    json["seconds"] = SecondsSince(begin_);
    return json;
  }

  std::string Text() const {
    std::vector<Table::Column> columns;
    for (const program::Variation& variation : variations_)
      columns.push_back({variation.name, Table::kRight});
    for (const std::string& title :
         {i18n::Text("Peak"), i18n::Text("Reserved"), i18n::Text("Needs"), i18n::Text("Step")})
      columns.push_back({title, Table::kRight});
    columns.push_back({i18n::Text("Fits")});
    Table table(columns);
    for (const Row& row : rows_) {
      const Planned& planned = row.plan.planned;
      std::vector<std::string> cells = row.values;
      if (planned.ok()) {
        for (const uint64_t bytes : {planned.peak, planned.reserved, planned.needed()})
          cells.push_back(run::FormatBytes(bytes));
        cells.push_back(Milliseconds(planned.step_ms));
        cells.push_back(Fits(row) ? i18n::Text("yes") : i18n::Text("no"));
      } else {
        cells.insert(cells.end(), {"", "", "", "", Printable(planned.error)});
      }
      table.Row(std::move(cells));
    }
    std::string text = table.Text();
    if (largest_ > 0)
      text += "\n" + Prose(i18n::Format("The largest value of {} that fits into {} is {}.",
                                        variations_[0].name, run::FormatBytes(*budget_), largest_));
    return text;
  }

  const std::vector<std::string>& command_;
  const ProgramFitOptions& options_;
  const std::optional<uint64_t> budget_;
  const std::vector<program::Variation> variations_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  ProgramPlans plans_;
  std::vector<Row> rows_;
  int64_t largest_ = 0;  // 0: not searched, or no value fits
};

}  // namespace

void AddProgramFitOptions(CLI::App& command, ProgramFitOptions& options) {
  command
      .add_option("--vary", options.vary,
                  "with -- PROGRAM: plan the program for several values of an argument; "
                  "repeatable. `--vary=--batch-size=1..64` sets the option --batch-size. `--vary "
                  "seq=512,1024` replaces {seq} in the command")
      ->type_name("ARGUMENT=VALUES");
  command
      .add_option("--patience", options.patience,
                  "with -- PROGRAM: time limit of the search in seconds")
      ->check(NumberBetween(1, 86400), "FLOAT in [1 - 86400]")
      ->type_name("SECONDS");
}

ExitCode FitProgram(const std::vector<std::string>& command, const ProgramFitOptions& options) {
  if (command.empty()) {
    NoteError(
        i18n::Text("the program after -- is missing; for example: vramscope fit --budget 24GiB -- "
                   "python train.py"));
    return kUsage;
  }
  const bool varies = !options.vary.empty();
  const bool device_alone = options.budget.empty() && varies;
  RunOptions device;
  device.device = options.program.device;
  device.gpu_memory = options.program.gpu_memory;
  std::optional<uint64_t> budget;
  if (!device_alone) {
    const absl::StatusOr<uint64_t> given = BudgetOf(options.budget, device);
    if (!given.ok()) return ReportBudgetError(options.budget, device, given.status());
    budget = *given;
  }
  std::vector<program::Variation> variations;
  for (const std::string& text : options.vary) {
    absl::StatusOr<program::Variation> variation = program::ParseVariation(text);
    if (!variation.ok()) {
      NoteError(std::string(variation.status().message()));
      return kUsage;
    }
    variations.push_back(*std::move(variation));
  }
  const absl::StatusOr<program::Platform> platform = program::FindPlatform(true);
  if (!platform.ok()) return ReportError(platform.status());
  absl::StatusOr<std::vector<Toggle>> all = program::ReadToggles(*platform);
  if (!all.ok()) return ReportError(all.status());
  if (const auto chosen = program::ChooseToggles(*all, options.program.toggles); !chosen.ok()) {
    NoteError(std::string(chosen.status().message()));
    return kUsage;
  }
  if (varies) return ProgramVary(command, options, budget, std::move(variations), *all).Run();
  return ProgramFit(command, options, *budget, *std::move(all)).Run();
}

}  // namespace vramscope::cli
