#include "app/cli/program_techniques.h"

#include <fmt/format.h>

#include <chrono>

#include "app/cli/format.h"
#include "app/cli/output.h"
#include "app/cli/program_plans.h"
#include "app/cli/toggles.h"
#include "profiler/base/i18n.h"
#include "profiler/fit/waterfall.h"
#include "profiler/program/launch.h"
#include "profiler/program/toggles.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

using fit::Planned;
using program::Toggle;
using program::ToggleProposal;

// Differences in the memory that a program needs; a plan that failed has none.
int64_t Saves(const Planned& before, const Planned& now) {
  return ByteDifference(now.needed(), before.needed());
}

double TimeFactor(const Planned& before, const Planned& now) {
  return before.step_ms > 0 ? now.step_ms / before.step_ms : 0;
}

// The catalogue of toggles, if all of `options` are in it.
absl::StatusOr<std::vector<Toggle>> CatalogueFor(const ProgramOptions& options) {
  const absl::StatusOr<program::Platform> platform = program::FindPlatform(true);
  if (!platform.ok()) return platform.status();
  absl::StatusOr<std::vector<Toggle>> all = program::ReadToggles(*platform);
  if (!all.ok()) return all;
  if (const auto chosen = program::ChooseToggles(*all, options.toggles); !chosen.ok())
    return chosen.status();
  return all;
}

absl::StatusOr<std::vector<ProgramPlan>> PlanAll(ProgramPlans& plans,
                                                 const std::vector<ProgramQuestion>& questions) {
  const auto begin = std::chrono::steady_clock::now();
  ProgressBar bar(true);
  plans.progress = [&](size_t done, size_t of) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    bar.Show(of == 0 ? 0 : static_cast<double>(done) / static_cast<double>(of),
             i18n::Format("{:.0f} s, {} of {} plans", seconds.count(), done, of));
  };
  return plans.All(questions);
}

Json FiguresJson(const Planned& planned) {
  return {{"peak", planned.peak},
          {"reserved", planned.reserved},
          {"needed", planned.needed()},
          {"step_ms", planned.step_ms}};
}

Json SavingJson(const ToggleProposal& proposal, const ProgramPlan& plan, const Planned& start) {
  const Toggle& toggle = *proposal.toggle;
  Json row = {{"toggle", program::TextOf(proposal.choice)},
              {"label", toggle.label},
              {"explains", toggle.explains},
              {"changes", toggle.changes},
              {"excludes", toggle.excludes}};
  const Planned& planned = plan.planned;
  if (planned.ok()) {
    const double factor = TimeFactor(start, planned);
    row.update(FiguresJson(planned));
    row["saves"] = Saves(start, planned);
    row["effect"] = HasEffect(start, planned);
    row["time_factor"] = factor > 0 ? Json(factor) : Json();
  }
  row["error"] = planned.ok() ? Json() : Json(planned.error);
  row["change"] = Json::array();
  for (const program::ToggleReport& report : plan.toggles)
    if (report.on && report.name == proposal.choice.name)
      for (const program::ToggleChange& change : report.changes)
        row["change"].push_back({{"text", change.text}, {"where", change.where}});
  return row;
}

std::string SavingsText(const std::vector<ToggleProposal>& proposals,
                        const std::vector<ProgramPlan>& plans, const Planned& start) {
  Table table({{i18n::Text("Alone"), Table::kLeft, true},
               {i18n::Text("Needs"), Table::kRight},
               {i18n::Text("Time"), Table::kRight},
               {""}});
  for (size_t i = 0; i < proposals.size(); ++i) {
    const Planned& planned = plans[i].planned;
    const std::string name = program::TextOf(proposals[i].choice);
    if (!planned.ok()) {
      table.Row({name, "", "", Printable(planned.error)});
      continue;
    }
    table.Row({name, SignedBytes(-Saves(start, planned)),
               fmt::format("{:.2f} x", TimeFactor(start, planned)),
               HasEffect(start, planned) ? "" : i18n::Text("had no effect")});
  }
  return i18n::Format("Without them, the program needs {}.\n\n", run::FormatBytes(start.needed())) +
         table.Text();
}

// Names that are not in the catalogue are errors of usage.
ExitCode Refuse(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return ReportError(status);
  NoteError(std::string(status.message()));
  return kUsage;
}

absl::Status FailedStart(const Planned& start) {
  return absl::InvalidArgumentError(
      i18n::Format("planning the program without changes failed: {}", start.error));
}

}  // namespace

ExitCode PlanEachToggle(const std::vector<std::string>& command, const ProgramOptions& options,
                        bool json) {
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<std::vector<Toggle>> all = CatalogueFor(options);
  if (!all.ok()) return Refuse(all.status());
  ProgramPlans plans(options, 0, *all);
  const auto first = PlanAll(plans, {{command, options.toggles}});
  if (!first.ok()) return ReportError(first.status());
  const ProgramPlan& start = first->front();
  if (!start.planned.ok()) return ReportError(FailedStart(start.planned));
  const std::vector<ToggleProposal> proposals = program::ProposedToggles(*all, start.toggles);
  std::vector<ProgramQuestion> questions;
  for (const ToggleProposal& proposal : proposals) {
    questions.push_back({command, options.toggles});
    questions.back().toggles.push_back(program::TextOf(proposal.choice));
  }
  const auto done = PlanAll(plans, questions);
  if (!done.ok()) return ReportError(done.status());
  if (!json) return PrintText(SavingsText(proposals, *done, start.planned));
  Json answer = {{"start", FiguresJson(start.planned)}, {"savings", Json::array()}};
  for (size_t i = 0; i < proposals.size(); ++i)
    answer["savings"].push_back(SavingJson(proposals[i], (*done)[i], start.planned));
  answer["toggles"] = TogglesJson(start.toggles, true);
  answer["plans"] = plans.plans();
  answer["seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return PrintJson(answer);
}

ExitCode WaterfallOfProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                            const std::string& output, bool json) {
  const absl::StatusOr<std::vector<Toggle>> all = CatalogueFor(options);
  if (!all.ok()) return Refuse(all.status());
  ProgramPlans plans(options, 0, *all);
  std::vector<ProgramQuestion> questions = {{command, {}}};
  std::vector<fit::Rung> ladder = {{.name = "baseline"}};
  for (const std::string& toggle : options.toggles) {
    questions.push_back(questions.back());
    questions.back().toggles.push_back(toggle);
    ladder.push_back({.name = toggle});
  }
  const auto done = PlanAll(plans, questions);
  if (!done.ok()) return ReportError(done.status());
  std::vector<Planned> planned;
  for (size_t i = 0; i < done->size(); ++i) {
    planned.push_back((*done)[i].planned);
    if (planned.back().ok()) continue;
    return ReportError(i == 0 ? FailedStart(planned.back())
                              : absl::InvalidArgumentError(
                                    fmt::format("{}: {}", ladder[i].name, planned.back().error)));
  }
  if (!output.empty()) {
    const absl::Status written = WriteStream(output, [&](std::ostream& out) {
      const i18n::InEnglish english;
      out << fit::WaterfallSvg(ladder, planned) << "\n";
      return absl::OkStatus();
    });
    if (!written.ok()) return ReportError(written);
    if (output == "-") return kDone;
  }
  Json bars = Json::array();
  Table table({{i18n::Text("Bar")},
               {i18n::Text("Peak"), Table::kRight},
               {i18n::Text("Change"), Table::kRight},
               {i18n::Text("Reserved"), Table::kRight},
               {i18n::Text("Step"), Table::kRight}});
  for (size_t i = 0; i < planned.size(); ++i) {
    const Planned &now = planned[i], &before = planned[i == 0 ? 0 : i - 1];
    const int64_t change = ByteDifference(before.peak, now.peak);
    Json bar = FiguresJson(now);
    bar["name"] = ladder[i].name;
    bar["toggle"] = i == 0 ? Json() : Json(options.toggles[i - 1]);
    bar["saves"] = -change;
    bar["costs_ms"] = now.step_ms - before.step_ms;
    bars.push_back(std::move(bar));
    table.Row({i18n::Text(ladder[i].name), run::FormatBytes(now.peak),
               i == 0 ? "" : SignedBytes(change), run::FormatBytes(now.reserved),
               Milliseconds(now.step_ms)});
  }
  return json ? PrintJson({{"bars", std::move(bars)}, {"plans", plans.plans()}})
              : PrintText(table.Text());
}

}  // namespace vramscope::cli
