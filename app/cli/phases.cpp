// `phases FILE`: prints for every step how many milliseconds forward, backward and optimizer took,
// and the gaps between them.
#include <fmt/format.h>

#include <memory>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/summary.h"
#include "profiler/analysis/analysis.h"
#include "profiler/analysis/outside_steps.h"
#include "profiler/base/i18n.h"
#include "profiler/run/units.h"

namespace vramscope::cli::phases_command {
namespace {

struct Options {
  std::string file;
  RangeOptions range;
  bool json = false;
};

Json OutsideJson(const trace::Trace& trace, const std::vector<analysis::OutsideRow>& rows) {
  const auto timed = [&](auto value) { return trace.info.has_times ? Json(value) : Json(); };
  Json json = Json::array();
  for (const analysis::OutsideRow& row : rows) {
    json.push_back({{"phase", std::string(trace::Name(row.phase))},
                    {"after_step", row.after_step < 0 ? Json() : Json(row.after_step)},
                    {"count", row.count},
                    {"peak_allocated", row.peak_allocated},
                    {"peak_reserved", row.peak_reserved},
                    {"begin_ns", timed(row.begin_ns)},
                    {"end_ns", timed(row.end_ns)},
                    {"total_ms", timed(row.total_ms)}});
  }
  return json;
}

std::string OutsideTable(const trace::Trace& trace, const std::vector<analysis::OutsideRow>& rows) {
  if (rows.empty()) return {};
  std::vector<Table::Column> columns = {{i18n::Text("Outside of steps")},
                                        {i18n::Text("After step"), Table::kRight},
                                        {i18n::Text("Times"), Table::kRight}};
  if (trace.info.has_times) columns.push_back({i18n::Text("Total"), Table::kRight});
  columns.push_back({i18n::Text("Peak"), Table::kRight});
  Table table(columns);
  for (const analysis::OutsideRow& row : rows) {
    std::vector<std::string> cells = {i18n::Text(trace::Name(row.phase)),
                                      row.after_step < 0 ? "" : fmt::format("{}", row.after_step),
                                      fmt::format("{}", row.count)};
    if (trace.info.has_times) cells.push_back(Milliseconds(row.total_ms));
    cells.push_back(run::FormatBytes(row.peak_allocated));
    table.Row(cells);
  }
  return table.Text();
}

ExitCode Execute(const Options& options) {
  const auto opened = OpenOneDevice(options.file, options.range);
  if (!opened.ok()) return ReportError(opened.status());
  const trace::Trace& trace = *opened->trace;
  const analysis::MemoryCurves curves = analysis::ComputeCurves(trace);
  const std::vector<analysis::StepRow> steps = analysis::StepTable(trace, curves);
  const std::vector<analysis::OutsideRow> outside = analysis::OutsideSteps(trace, curves);
  if (options.json) {
    return PrintJson({{"backend", std::string(trace::Name(trace.info.backend))},
                      {"measured", trace.info.measured},
                      {"steps", StepsJson(trace, steps)},
                      {"outside_steps", OutsideJson(trace, outside)}});
  }
  if (steps.empty() && outside.empty())
    return PrintText(i18n::Text("no steps were found in this file\n"));
  const trace::TraceInfo& info = trace.info;
  std::string text =
      steps.empty() ? i18n::Text("no steps were found in this file\n") : StepsTable(trace, steps);
  if (const std::string table = OutsideTable(trace, outside); !table.empty()) text += "\n" + table;
  return PrintText(text + (!info.has_times ? i18n::Text("\n  The file does not record times.\n")
                           : info.measured ? ""
                                           : i18n::Text("\n  Times are modelled.\n")));
}

void DeclarePhases(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  AddRangeOptions(*command, options->range);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_phases() {
  return {.place = 60,
          .name = "phases",
          .help = "show the times of forward, backward and optimizer in every step",
          .example = "phases run.trace",
          .declare = DeclarePhases};
}

}  // namespace vramscope::cli::phases_command
