#include "app/cli/program_waterfall.h"

#include <fmt/format.h>

#include <chrono>

#include "app/cli/format.h"
#include "app/cli/output.h"
#include "app/cli/program_plans.h"
#include "profiler/base/i18n.h"
#include "profiler/fit/waterfall.h"
#include "profiler/program/launch.h"
#include "profiler/program/toggles.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

using fit::Planned;
using program::Toggle;

// Returns the catalogue of toggles, or an error if it lacks one of the toggles in `options`.
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

// Reports an error. A name that is not in the catalogue is wrong usage.
ExitCode Refuse(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return ReportError(status);
  NoteError(std::string(status.message()));
  return kUsage;
}

absl::Status FailedStart(const Planned& start) {
  return absl::InvalidArgumentError(
      i18n::Format("planning the unchanged program failed: {}", start.error));
}

}  // namespace

ExitCode WaterfallOfProgram(const std::vector<std::string>& command, const ProgramOptions& options,
                            const std::string& output, bool json) {
  const absl::StatusOr<std::vector<Toggle>> all = CatalogueFor(options);
  if (!all.ok()) return Refuse(all.status());
  ProgramPlans plans(options, 0, *all);
  std::vector<ProgramQuestion> questions = {{command, {}}};
  std::vector<fit::Rung> ladder = {{.name = TEXT_MARK("baseline")}};
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
    const std::string& error = planned.back().error;
    if (i == 0) return ReportError(FailedStart(planned.back()));
    // If a toggle is not in force, the error names it.
    return ReportError(absl::InvalidArgumentError(
        NotInForce((*done)[i]) != nullptr ? error : fmt::format("{}: {}", ladder[i].name, error)));
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
