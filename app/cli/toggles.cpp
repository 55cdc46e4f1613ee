// `toggles [-- PROGRAM]`: lists the techniques that can be switched on for a program from outside,
// and which of them apply to PROGRAM.
#include "app/cli/toggles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "app/cli/format.h"
#include "app/cli/program_command.h"
#include "app/cli/toggle_savings.h"
#include "profiler/base/i18n.h"
#include "profiler/program/launch.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

using program::Toggle;
using program::ToggleOutcome;
using program::ToggleReport;

std::string_view StateOf(const ToggleReport& report) {
  const ToggleOutcome outcome = report.outcome();
  if (outcome == ToggleOutcome::kAlreadyOn) return i18n::Text("already on");
  if (!report.on)
    return outcome == ToggleOutcome::kApplied ? i18n::Text("applies")
                                              : i18n::Text("does not apply");
  if (outcome == ToggleOutcome::kNoEffect) return i18n::Text("no effect");
  if (outcome == ToggleOutcome::kUnusable) return i18n::Text("not usable");
  return outcome == ToggleOutcome::kApplied ? i18n::Text("applied") : i18n::Text("not applied");
}

std::string ChangeOf(uint64_t without, uint64_t with) {
  return without == with ? i18n::Text("unchanged")
                         : SignedBytes(static_cast<int64_t>(with) - static_cast<int64_t>(without));
}

std::string ValuesOf(const Toggle& toggle) {
  if (toggle.values.empty()) return toggle.value_kind;
  return fmt::format("{}", fmt::join(toggle.values, "|"));
}

std::string MeaningOf(const std::string& changes) {
  if (changes == "nothing") return i18n::Text("unchanged");
  return changes == "rounding" ? i18n::Text("different rounding") : i18n::Text("changed");
}

Json CatalogueJson(const std::vector<Toggle>& all) {
  Json json = Json::array();
  for (const Toggle& toggle : all) {
    json.push_back({{"name", toggle.name},
                    {"label", toggle.label},
                    {"group", toggle.group},
                    {"changes", toggle.changes},
                    {"explains", toggle.explains},
                    {"applies_to", toggle.applies_to},
                    {"values", toggle.values},
                    {"value_kind", toggle.value_kind.empty() ? Json() : Json(toggle.value_kind)},
                    {"default", toggle.default_value.empty() ? Json() : Json(toggle.default_value)},
                    {"needs_value", toggle.needs_value},
                    {"excludes", toggle.excludes}});
  }
  return json;
}

ExitCode ListAll(const std::vector<Toggle>& all, bool json) {
  if (json) return PrintJson({{"toggles", CatalogueJson(all)}});
  Table table({{i18n::Text("Toggle"), Table::kLeft, true},
               {i18n::Text("Technique")},
               {i18n::Text("Values")},
               {i18n::Text("Default")},
               {i18n::Text("Training")}});
  for (const Toggle& toggle : all)
    table.Row({toggle.name, i18n::Text(toggle.label), ValuesOf(toggle), toggle.default_value,
               MeaningOf(toggle.changes)});
  return PrintText(
      table.Text() +
      Prose(i18n::Text("`vramscope toggles -- python train.py` shows which toggles apply to a "
                       "program. `vramscope plan --toggle NAME -- python train.py` plans the "
                       "program with one toggle. `vramscope fit --budget 24GiB -- python train.py` "
                       "searches for toggles with which the program fits.")));
}

ExitCode ListOfProgram(const program::Program& seen, const program::Outcome& outcome, bool json) {
  const std::vector<ToggleReport> reports = ReportsOf(seen);
  const ExitCode verdict = Verdict(seen, outcome, false);
  if (json) {
    const ExitCode printed = PrintJson({{"toggles", TogglesJson(reports, true)}});
    return printed == kDone ? verdict : printed;
  }
  Table applies({{i18n::Text("Applies"), Table::kLeft, true},
                 {i18n::Text("Code to write")},
                 {i18n::Text("Location")}});
  for (const ToggleReport& report : reports) {
    if (!report.applies()) continue;
    std::string values;
    for (const std::string& value : report.proposals)
      values += value.empty() ? "" : (values.empty() ? "=" : "|") + value;
    std::string name = report.name + Printable(values), before;
    if (report.changes.empty()) applies.Row({name, "", ""});
    for (const program::ToggleChange& change : report.changes) {
      const std::string place = Printable(ShortPlace(change.where));
      applies.Row({std::exchange(name, ""), Printable(change.text), place == before ? "" : place});
      before = place;
    }
  }
  const ExitCode printed = PrintText(applies.Text() + ReasonsText(reports));
  return printed == kDone ? verdict : printed;
}

}  // namespace

std::string NameOf(const ToggleReport& report) {
  return report.value.empty() ? report.name : report.name + "=" + report.value;
}

std::string OutcomeText(const ToggleReport& report) {
  if (!report.applies()) return fmt::format("{}: {}", StateOf(report), WhyText(report));
  if (report.reached <= 1) return i18n::Text("applied at one place");
  return report.places <= 1
             ? i18n::Format("applied at one place, {} times", report.reached)
             : i18n::Format("applied at {} places, {} times", report.places, report.reached);
}

std::string EffectText(const fit::Planned& without, const fit::Planned& with) {
  const std::string allocated = run::FormatBytes(with.peak),
                    reserved = run::FormatBytes(with.reserved);
  if (without.peak == with.peak && without.reserved == with.reserved)
    return i18n::Format("the peak is the same: {} allocated, {} reserved", allocated, reserved);
  return i18n::Format("peak {} allocated ({}), {} reserved ({})", allocated,
                      ChangeOf(without.peak, with.peak), reserved,
                      ChangeOf(without.reserved, with.reserved));
}

Json EffectJson(const fit::Planned& without, const fit::Planned& with) {
  const auto saved = [](uint64_t before, uint64_t now) {
    return static_cast<int64_t>(before) - static_cast<int64_t>(now);
  };
  return {{"saves_allocated", saved(without.peak, with.peak)},
          {"saves_reserved", saved(without.reserved, with.reserved)},
          {"saves", saved(without.needed(), with.needed())},
          {"same_peak", without.peak == with.peak && without.reserved == with.reserved}};
}

std::string ReasonsText(const std::vector<ToggleReport>& reports) {
  Table already({{i18n::Text("Already on"), Table::kLeft, true}, {i18n::Text("Why")}});
  Table others({{i18n::Text("Does not apply"), Table::kLeft, true}, {i18n::Text("Why")}});
  bool any_already = false, any_others = false;
  for (const ToggleReport& report : reports) {
    if (report.applies()) continue;
    const bool on = report.outcome() == ToggleOutcome::kAlreadyOn;
    (on ? any_already : any_others) = true;
    (on ? already : others).Row({report.name, Printable(WhyText(report))});
  }
  return (any_already ? "\n" + already.Text() : "") + (any_others ? "\n" + others.Text() : "");
}

std::string ShortPlace(const std::string& where) {
  // The place of a toggle that sets environment variables.
  constexpr std::string_view kEnvironment = TEXT_MARK("environment");
  if (where == kEnvironment) return i18n::Text(kEnvironment);
  return std::filesystem::path(where).filename().string();
}

Json TogglesJson(const std::vector<ToggleReport>& reports, bool all) {
  Json json = Json::array();
  for (const ToggleReport& report : reports) {
    if (!report.on && !all) continue;
    Json changes = Json::array();
    for (const program::ToggleChange& change : report.changes)
      changes.push_back({{"text", change.text}, {"where", change.where}});
    Json proposals = Json::array();
    for (const std::string& value : report.proposals)
      proposals.push_back(value.empty() ? Json() : Json(value));
    json.push_back({{"name", report.name},
                    {"value", report.value.empty() ? Json() : Json(report.value)},
                    {"on", report.on},
                    {"state", StateOf(report)},
                    {"reached", report.reached},
                    {"places", report.places},
                    {"already_on", report.already_on},
                    {"why", report.why},
                    {"overridden", report.overridden},
                    {"unusable", report.unusable},
                    {"applies_to", report.applies_to},
                    {"change", changes},
                    {"proposals", proposals},
                    {"shares", report.shares}});
  }
  return json;
}

std::vector<ToggleReport> ReportsOf(const program::Program& seen) {
  std::vector<std::vector<ToggleReport>> processes;
  for (const program::ProcessRun& run : seen.runs) processes.push_back(run.about.toggles);
  return program::JoinReports(processes);
}

std::string LinesText(const std::vector<ToggleReport>& reports) {
  std::vector<program::ToggleChange> changes;
  for (const ToggleReport& report : reports)
    if (report.on && report.applies())
      changes.insert(changes.end(), report.changes.begin(), report.changes.end());
  std::string text, before;
  for (const program::ToggleChange& change : program::JoinChanges(changes)) {
    if (change.where != before && !change.where.empty())
      text += fmt::format("    {}:\n", Printable(ShortPlace(change.where)));
    before = change.where;
    text += "      " + Printable(change.text) + "\n";
  }
  return text;
}

std::string TogglesText(const std::vector<ToggleReport>& reports) {
  std::string text, applied;
  for (const ToggleReport& report : reports) {
    if (!report.on) continue;
    text += fmt::format("\n  {}: {}", Printable(NameOf(report)), Printable(OutcomeText(report)));
    if (!report.applies()) {
      text += "\n";
      continue;
    }
    text += i18n::Text("; code to write in the program:\n") + LinesText({report});
    applied += " --toggle " + Printable(NameOf(report));
  }
  if (!applied.empty())
    text +=
        "\n" + Prose(i18n::Format(
                   "This plan alone does not show what a toggle saves. `vramscope toggles "
                   "--savings{} -- ...` also plans the unchanged program and compares the plans.",
                   applied));
  return text;
}

bool SayUnapplied(const std::vector<ToggleReport>& reports) {
  bool all = true;
  for (const ToggleReport& report : reports) {
    if (!report.on || report.applies()) continue;
    all = all && report.in_force();
    const std::string name = NameOf(report), why = WhyText(report);
    switch (report.outcome()) {
      case ToggleOutcome::kAlreadyOn:
        Note(i18n::Format("--toggle {} is already on: {}", name, why));
        break;
      case ToggleOutcome::kNoEffect:
        Note(i18n::Format("--toggle {} had no effect: {}", name, why));
        break;
      case ToggleOutcome::kUnusable:
        Note(
            i18n::Format("--toggle {} cannot be used in this program: {}. The planned peak "
                         "includes its effect",
                         name, why));
        break;
      default:
        Note(i18n::Format("--toggle {} was not applied: {}", name, why));
    }
  }
  return all;
}

namespace {

void DeclareToggles(CLI::App* command, Context& context) {
  struct Options {
    ProgramOptions program;
    bool json = false, json_lines = false, savings = false;
  };
  auto options = std::make_shared<Options>();
  AddProgramOptions(*command, options->program, true);
  CLI::Option* savings = command->add_flag(
      "--savings", options->savings,
      "with -- PROGRAM: plan the program without toggles and with each toggle that applies, and "
      "print what each toggle saves. If --toggle is given, only these toggles are tried");
  for (const char* name : {"--from", "--keep"}) savings->excludes(command->get_option(name));
  command->add_flag("--json", options->json, "print one JSON object");
  command
      ->add_flag(
          "--json-lines", options->json_lines,
          "with --savings: print one JSON object per line when the plan of a toggle begins, and "
          "one when the plan is complete. The last line is the object that --json prints")
      ->needs(savings);
  command->callback([options, &context, command] {
    if (options->savings) {
      context.exit_code = ToggleSavings(context.after_dashes, options->program,
                                        options->json_lines ? SavingsForm::kJsonLines
                                        : options->json     ? SavingsForm::kJson
                                                            : SavingsForm::kText);
      return;
    }
    if (context.has_program || !options->program.from.empty()) {
      options->program.all_toggles = true;
      // The program's output goes to stderr.
      context.exit_code = RunProgram(context.after_dashes, options->program, {.json = true}, true,
                                     [&](program::Program& seen, const program::Outcome& outcome) {
                                       return ListOfProgram(seen, outcome, options->json);
                                     });
      return;
    }
    std::vector<const char*> names(std::begin(kProgramOptionNames), std::end(kProgramOptionNames));
    names.insert(names.end(), {"--device", "--gpu-memory"});
    for (const char* name : names) {
      if (command->get_option_no_throw(name) == nullptr || command->count(name) == 0) continue;
      NoteError(i18n::Format(
          "{} needs a program, for example: vramscope toggles {} ... -- python train.py", name,
          name));
      context.exit_code = kUsage;
      return;
    }
    const absl::StatusOr<program::Platform> platform = program::FindPlatform(true);
    const absl::StatusOr<std::vector<Toggle>> all =
        platform.ok() ? program::ReadToggles(*platform) : platform.status();
    context.exit_code = all.ok() ? ListAll(*all, options->json) : ReportError(all.status());
  });
}

}  // namespace

CommandEntry DeclareCommand_toggles() {
  return {.place = 180,
          .name = "toggles",
          .help =
              "list the techniques that can be switched on for a program without editing the "
              "program. With -- PROGRAM ARGS..., show which techniques apply to that program",
          .example = "toggles -- python train.py",
          .takes_program = true,
          .declare = DeclareToggles};
}

}  // namespace vramscope::cli
