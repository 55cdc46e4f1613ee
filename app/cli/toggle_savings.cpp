#include "app/cli/toggle_savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/cli/format.h"
#include "app/cli/program_plans.h"
#include "app/cli/toggles.h"
#include "profiler/base/i18n.h"
#include "profiler/program/launch.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

using fit::Planned;
using program::ToggleReport;

class Savings {
 public:
  Savings(const std::vector<std::string>& command, const ProgramOptions& options,
          const std::vector<program::Toggle>& all)
      : command_(command), all_(all), toggles_(options.toggles), plans_(options, 0, all) {}

  ExitCode Run(bool json) {
    ProgressBar bar(true);
    plans_.progress = [&](size_t done, size_t of) {
      bar.Show(of == 0 ? 0 : static_cast<double>(done) / static_cast<double>(of),
               i18n::Format("{:.0f} s, {} of {} plans", Seconds(), done, of));
    };
    const absl::StatusOr<std::vector<ProgramPlan>> start = plans_.All({{command_, {}}});
    if (!start.ok()) return ReportError(start.status());
    start_ = start->front();
    if (!start_.planned.ok())
      return ReportError(absl::InvalidArgumentError(
          i18n::Format("planning the program without changes failed: {}", start_.planned.error)));
    lists_others_ = toggles_.empty();
    if (lists_others_) toggles_ = Applying();
    std::vector<ProgramQuestion> questions;
    for (const std::string& toggle : toggles_) questions.push_back({command_, {toggle}});
    const absl::StatusOr<std::vector<ProgramPlan>> done = plans_.All(questions);
    if (!done.ok()) return ReportError(done.status());
    planned_ = *done;
    bar.Clear();
    const ExitCode printed = json ? PrintJson(Answer()) : PrintText(Text());
    if (printed != kDone) return printed;
    const bool all_planned =
        std::ranges::all_of(planned_, [](const ProgramPlan& plan) { return plan.planned.ok(); });
    return lists_others_ || all_planned ? kDone : kNo;
  }

 private:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  // NAME or NAME=VALUE of all toggles that apply to the program, with all values worth a plan.
  std::vector<std::string> Applying() const {
    std::vector<std::string> texts;
    for (const ToggleReport& report : start_.toggles) {
      if (!report.applies()) continue;
      for (const std::string& value : report.proposals)
        texts.push_back(value.empty() ? report.name : report.name + "=" + value);
    }
    return texts;
  }

  static const ToggleReport* ReportOf(const ProgramPlan& plan) {
    const auto on = std::ranges::find(plan.toggles, true, &ToggleReport::on);
    return on == plan.toggles.end() ? nullptr : &*on;
  }

  Json Answer() const {
    Json json;
    json["device"] = start_.device;
    json["model"] = start_.model;
    json["start"] = FiguresJson(start_.planned);
    json["rows"] = Json::array();
    for (size_t i = 0; i < toggles_.size(); ++i) {
      const ProgramPlan& plan = planned_[i];
      Json row = {{"toggle", toggles_[i]}};
      const std::string name = toggles_[i].substr(0, toggles_[i].find('='));
      if (const program::Toggle* const toggle = program::FindToggle(all_, name); toggle != nullptr)
        row.update({{"label", toggle->label},
                    {"explains", toggle->explains},
                    {"changes", toggle->changes},
                    {"excludes", toggle->excludes}});
      if (plan.planned.ok()) {
        row.update(FiguresJson(plan.planned));
        row.update(EffectJson(start_.planned, plan.planned));
      }
      row["outcome"] = TogglesJson(plan.toggles, false);
      row["error"] = plan.planned.ok() ? Json() : Json(plan.planned.error);
      json["rows"].push_back(std::move(row));
    }
    json["toggles"] = TogglesJson(start_.toggles, true);
    json["plans"] = plans_.plans();
    json["cold"] = plans_.cold().empty() ? Json() : Json(plans_.cold());
    json["seconds"] = Seconds();
    json["assumptions"] = start_.assumptions;
    return json;
  }

  std::string OutcomeOf(const ProgramPlan& plan) const {
    const ToggleReport* const report = ReportOf(plan);
    if (report != nullptr && !report->applies()) return OutcomeText(*report);
    if (!plan.planned.ok()) return plan.planned.error;
    return i18n::Format("applied; {}", EffectText(start_.planned, plan.planned));
  }

  std::string Text() const {
    std::string text = i18n::Format(
        "{}, {}: peak {} allocated, {} reserved, needs {}\n\n", Printable(start_.model),
        Printable(start_.device), run::FormatBytes(start_.planned.peak),
        run::FormatBytes(start_.planned.reserved), run::FormatBytes(start_.planned.needed()));
    Table table({{i18n::Text("Toggle"), Table::kLeft, true},
                 {i18n::Text("Needs"), Table::kRight},
                 {i18n::Text("Time"), Table::kRight},
                 {i18n::Text("What it did")}});
    for (size_t i = 0; i < toggles_.size(); ++i) {
      const Planned& planned = planned_[i].planned;
      const bool has_times = planned.ok() && start_.planned.step_ms > 0;
      table.Row({toggles_[i],
                 planned.ok()
                     ? SignedBytes(ByteDifference(start_.planned.needed(), planned.needed()))
                     : "",
                 has_times ? fmt::format("{:.2f} x", planned.step_ms / start_.planned.step_ms) : "",
                 Printable(OutcomeOf(planned_[i]))});
    }
    text += toggles_.empty() ? i18n::Text("No toggle applies to this program.\n") : table.Text();
    if (lists_others_) text += ReasonsText(start_.toggles);
    return text + "\n" +
           Prose(i18n::Format("{} plans in {:.0f} s. Times are modelled. `vramscope plan --toggle "
                              "NAME -- ...` prints the lines to write.",
                              plans_.plans(), Seconds()));
  }

  const std::vector<std::string>& command_;
  const std::vector<program::Toggle>& all_;
  std::vector<std::string> toggles_;
  bool lists_others_ = false;  // no toggles were given, so all are listed
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  ProgramPlans plans_;
  ProgramPlan start_;
  std::vector<ProgramPlan> planned_;  // plans in the order of toggles_
};

}  // namespace

ExitCode ToggleSavings(const std::vector<std::string>& command, const ProgramOptions& options,
                       bool json) {
  if (command.empty()) {
    NoteError(
        i18n::Text("the program after -- is missing; for example: vramscope toggles --savings -- "
                   "python train.py"));
    return kUsage;
  }
  const absl::StatusOr<program::Platform> platform = program::FindPlatform(true);
  if (!platform.ok()) return ReportError(platform.status());
  const absl::StatusOr<std::vector<program::Toggle>> all = program::ReadToggles(*platform);
  if (!all.ok()) return ReportError(all.status());
  // Each is planned alone, so toggles that exclude each other may be given together.
  for (const std::string& toggle : options.toggles) {
    if (const auto chosen = program::ChooseToggles(*all, {toggle}); !chosen.ok()) {
      NoteError(std::string(chosen.status().message()));
      return kUsage;
    }
  }
  return Savings(command, options, *all).Run(json);
}

}  // namespace vramscope::cli
