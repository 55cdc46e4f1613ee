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
          const std::vector<program::Toggle>& all, SavingsForm form)
      : command_(command),
        all_(all),
        form_(form),
        toggles_(options.toggles),
        plans_(options, 0, all) {}

  ExitCode Run() {
    plans_.progress = [&](size_t done, size_t of) {
      bar_.Show(of == 0 ? 0 : static_cast<double>(done) / static_cast<double>(of),
                i18n::Format("{:.0f} s, {} of {} plans", Seconds(), done, of));
    };
    const absl::StatusOr<std::vector<ProgramPlan>> start = plans_.All({{command_, {}}});
    bar_.Clear();
    if (!start.ok()) return ReportError(start.status());
    start_ = start->front();
    if (!start_.planned.ok())
      return ReportError(absl::InvalidArgumentError(
          i18n::Format("planning the unchanged program failed: {}", start_.planned.error)));
    lists_others_ = toggles_.empty();
    if (lists_others_) toggles_ = Applying();
    std::vector<ProgramQuestion> questions;
    for (const std::string& toggle : toggles_) questions.push_back({command_, {toggle}});
    Begin();
    const absl::StatusOr<std::vector<ProgramPlan>> done = plans_.All(questions);
    bar_.Clear();
    if (!done.ok()) return ReportError(done.status());
    planned_ = *done;
    const ExitCode printed = form_ == SavingsForm::kText   ? PrintText(Text())
                             : form_ == SavingsForm::kJson ? PrintJson(Answer())
                                                           : PrintLine(Answer());
    if (printed != kDone) return printed;
    const bool all_planned =
        std::ranges::all_of(planned_, [](const ProgramPlan& plan) { return plan.planned.ok(); });
    return lists_others_ || all_planned ? kDone : kNo;
  }

 private:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  static ExitCode PrintLine(const Json& json) {
    return PrintText(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  // Prints what is known before the toggles are planned. A row for each toggle follows later. Write
  // errors are reported with the last part.
  void Begin() {
    if (form_ == SavingsForm::kJsonLines) {
      Json json = Known();
      json["planning"] = Json::array();
      for (const std::string& toggle : toggles_) json["planning"].push_back(Named(toggle));
      PrintLine(json);
      plans_.began = [](const ProgramQuestion& question) {
        PrintLine({{"begun", question.toggles.front()}});
      };
      plans_.arrived = [this](const ProgramQuestion& question, const ProgramPlan& plan) {
        PrintLine({{"row", RowOf(question.toggles.front(), plan)}});
      };
    }
    rows_printed_ = form_ == SavingsForm::kText && TerminalWidth() > 0 && !toggles_.empty();
    if (!rows_printed_) return;
    PrintText(Headline() + Columns().Head());
    plans_.arrived = [this](const ProgramQuestion& question, const ProgramPlan& plan) {
      bar_.Clear();
      Table row = Columns();
      AddRow(row, question.toggles.front(), plan);
      PrintText(row.Rows());
    };
  }

  // Returns the toggles that apply to the program: NAME, or NAME=VALUE for each proposed value.
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

  // Returns the part of the JSON that comes from the plan of the unchanged program.
  Json Known() const {
    Json json;
    json["device"] = start_.device;
    json["model"] = start_.model;
    json["start"] = FiguresJson(start_.planned);
    return json;
  }

  Json Named(const std::string& text) const {
    Json row = {{"toggle", text}};
    const std::string name = text.substr(0, text.find('='));
    if (const program::Toggle* const toggle = program::FindToggle(all_, name); toggle != nullptr)
      row.update({{"label", toggle->label},
                  {"explains", toggle->explains},
                  {"changes", toggle->changes},
                  {"excludes", toggle->excludes}});
    return row;
  }

  Json RowOf(const std::string& toggle, const ProgramPlan& plan) const {
    Json row = Named(toggle);
    if (plan.planned.ok()) {
      row.update(FiguresJson(plan.planned));
      row.update(EffectJson(start_.planned, plan.planned));
    }
    row["outcome"] = TogglesJson(plan.toggles, false);
    row["error"] = plan.planned.ok() ? Json() : Json(plan.planned.error);
    return row;
  }

  Json Answer() const {
    Json json = Known();
    json["rows"] = Json::array();
    for (size_t i = 0; i < toggles_.size(); ++i)
      json["rows"].push_back(RowOf(toggles_[i], planned_[i]));
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

  std::string Headline() const {
    return i18n::Format(
        "{}, {}: peak {} allocated, {} reserved; with the CUDA context, the program needs {}\n\n",
        Printable(start_.model), Printable(start_.device), run::FormatBytes(start_.planned.peak),
        run::FormatBytes(start_.planned.reserved), run::FormatBytes(start_.planned.needed()));
  }

  // Makes the columns wide enough for any row, because rows may be printed one by one.
  Table Columns() const {
    constexpr size_t kNeeds = sizeof("+1023.99 MiB") - 1, kTime = sizeof("99.99 x") - 1;
    size_t widest = 0;
    for (const std::string& toggle : toggles_) widest = std::max(widest, toggle.size());
    return Table({{i18n::Text("Toggle"), Table::kLeft, true, widest},
                  {i18n::Text("Needs"), Table::kRight, false, kNeeds},
                  {i18n::Text("Time"), Table::kRight, false, kTime},
                  {i18n::Text("Result")}});
  }

  void AddRow(Table& table, const std::string& toggle, const ProgramPlan& plan) const {
    const Planned& planned = plan.planned;
    const bool has_times = planned.ok() && start_.planned.step_ms > 0;
    table.Row(
        {toggle,
         planned.ok() ? SignedBytes(ByteDifference(start_.planned.needed(), planned.needed())) : "",
         has_times ? fmt::format("{:.2f} x", planned.step_ms / start_.planned.step_ms) : "",
         Printable(OutcomeOf(plan))});
  }

  // Returns the text of the result without the part that Begin() has printed.
  std::string Text() const {
    std::string text;
    if (!rows_printed_) {
      Table table = Columns();
      for (size_t i = 0; i < toggles_.size(); ++i) AddRow(table, toggles_[i], planned_[i]);
      text = Headline() +
             (toggles_.empty() ? i18n::Text("No toggle applies to this program.\n") : table.Text());
    }
    if (lists_others_) text += ReasonsText(start_.toggles);
    return text + "\n" +
           Prose(
               i18n::Format("Plans: {}, made in {:.0f} s. Times are modelled. `vramscope "
                            "plan --toggle NAME -- ...` prints the lines to write in the program.",
                            plans_.plans(), Seconds()));
  }

  const std::vector<std::string>& command_;
  const std::vector<program::Toggle>& all_;
  const SavingsForm form_;
  std::vector<std::string> toggles_;
  bool lists_others_ = false;  // no toggles were given, so all are listed
  bool rows_printed_ = false;  // whether Begin() prints the rows
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  ProgressBar bar_{true};
  ProgramPlans plans_;
  ProgramPlan start_;
  std::vector<ProgramPlan> planned_;  // plans in the order of toggles_
};

}  // namespace

ExitCode ToggleSavings(const std::vector<std::string>& command, const ProgramOptions& options,
                       SavingsForm form) {
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
  // Each toggle is planned without the others, so toggles that exclude each other are allowed.
  for (const std::string& toggle : options.toggles) {
    if (const auto chosen = program::ChooseToggles(*all, {toggle}); !chosen.ok()) {
      NoteError(std::string(chosen.status().message()));
      return kUsage;
    }
  }
  return Savings(command, options, *all, form).Run();
}

}  // namespace vramscope::cli
