// `toggles [-- PROGRAM]`: lists the techniques that can be switched on for a program from outside,
// and which of them apply to PROGRAM.
#include "app/cli/toggles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <vector>

#include "app/cli/format.h"
#include "app/cli/program_command.h"
#include "profiler/base/i18n.h"
#include "profiler/program/launch.h"

namespace vramscope::cli {
namespace {

using program::Toggle;
using program::ToggleReport;

std::string NameOf(const ToggleReport& report) {
  return report.value.empty() ? report.name : report.name + "=" + report.value;
}

std::string_view StateOf(const ToggleReport& report) {
  if (!report.on) return report.applies() ? i18n::Text("applies") : i18n::Text("does not apply");
  if (!report.overridden.empty()) return i18n::Text("no effect");
  return report.reached > 0 ? i18n::Text("applied") : i18n::Text("not applied");
}

std::string ValuesOf(const Toggle& toggle) {
  if (toggle.values.empty()) return toggle.value_kind;
  return fmt::format("{}", fmt::join(toggle.values, "|"));
}

std::string MeaningOf(const std::string& changes) {
  if (changes == "nothing") return i18n::Text("stays");
  return changes == "rounding" ? i18n::Text("other rounding") : i18n::Text("another training");
}

Json CatalogueJson(const std::vector<Toggle>& all) {
  Json json = Json::array();
  for (const Toggle& toggle : all) {
    json.push_back({{"name", toggle.name},
                    {"label", toggle.label},
                    {"group", toggle.group},
                    {"changes", toggle.changes},
                    {"explains", toggle.explains},
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
               {i18n::Text("What")},
               {i18n::Text("Values")},
               {i18n::Text("Default")},
               {i18n::Text("The training")}});
  for (const Toggle& toggle : all)
    table.Row({toggle.name, toggle.label, ValuesOf(toggle), toggle.default_value,
               MeaningOf(toggle.changes)});
  return PrintText(
      table.Text() +
      Prose(i18n::Text(
          "`vramscope toggles -- python train.py` shows which of them apply to a program, "
          "`vramscope plan --toggle NAME -- python train.py` plans it with one, and `vramscope "
          "fit --budget 24GiB -- python train.py` searches for toggles with which it fits.")));
}

ExitCode ListOfProgram(const program::Program& seen, const program::Outcome& outcome, bool json) {
  const program::ProcessRun& run = seen.runs.front();
  const ExitCode verdict = Verdict(seen, outcome, false);
  if (json) {
    const ExitCode printed = PrintJson({{"toggles", TogglesJson(run.about.toggles, true)}});
    return printed == kDone ? verdict : printed;
  }
  Table applies({{i18n::Text("Applies"), Table::kLeft, true},
                 {i18n::Text("To write")},
                 {i18n::Text("Where")}});
  Table others({{i18n::Text("Does not apply"), Table::kLeft, true}, {i18n::Text("Why")}});
  for (const ToggleReport& report : run.about.toggles) {
    if (!report.applies()) {
      others.Row({report.name, Printable(report.overridden + report.why)});
      continue;
    }
    std::string values;
    for (const std::string& value : report.proposals)
      values += value.empty() ? "" : (values.empty() ? "=" : "|") + value;
    const program::ToggleChange change =
        report.changes.empty() ? program::ToggleChange{} : report.changes.front();
    applies.Row({report.name + Printable(values), Printable(change.text),
                 Printable(ShortPlace(change.where))});
  }
  const ExitCode printed = PrintText(applies.Text() + "\n" + others.Text());
  return printed == kDone ? verdict : printed;
}

}  // namespace

std::string ShortPlace(const std::string& where) {
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
                    {"why", report.why},
                    {"overridden", report.overridden},
                    {"change", changes},
                    {"proposals", proposals},
                    {"shares", report.shares}});
  }
  return json;
}

std::string LinesText(const std::vector<ToggleReport>& reports) {
  std::string text, before;
  for (const ToggleReport& report : reports) {
    if (!report.on || !report.applies()) continue;
    for (const program::ToggleChange& change : report.changes) {
      if (change.where != before && !change.where.empty())
        text += fmt::format("    {}:\n", Printable(ShortPlace(change.where)));
      before = change.where;
      text += "      " + Printable(change.text) + "\n";
    }
  }
  return text;
}

std::string TogglesText(const std::vector<ToggleReport>& reports) {
  std::string text;
  for (const ToggleReport& report : reports) {
    if (!report.on) continue;
    text += fmt::format("\n  {}: {}", Printable(NameOf(report)), StateOf(report));
    if (!report.applies()) {
      text += fmt::format(": {}\n", Printable(report.overridden + report.why));
      continue;
    }
    text += report.reached > 1
                ? i18n::Format(", {} times; in the program, write:\n", report.reached)
                : i18n::Text("; in the program, write:\n");
    text += LinesText({report});
  }
  return text;
}

bool SayUnapplied(const std::vector<ToggleReport>& reports) {
  bool all = true;
  for (const ToggleReport& report : reports) {
    if (!report.on || report.applies()) continue;
    all = false;
    Note(report.overridden.empty()
             ? i18n::Format("--toggle {} was not applied: {}", NameOf(report), report.why)
             : i18n::Format("--toggle {} had no effect: {}", NameOf(report), report.overridden));
  }
  return all;
}

namespace {

void DeclareToggles(CLI::App* command, Context& context) {
  struct Options {
    ProgramOptions program;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  AddProgramOptions(*command, options->program, true);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context, command] {
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
      NoteError(i18n::Format("{} goes with a program (vramscope toggles {} ... -- python train.py)",
                             name, name));
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
              "list the techniques that can be switched on for a program from outside; with -- "
              "PROGRAM ARGS..., show which apply to it",
          .example = "toggles -- python train.py",
          .takes_program = true,
          .declare = DeclareToggles};
}

}  // namespace vramscope::cli
