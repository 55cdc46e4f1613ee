// `phases FILE`: forward, backward and optimizer milliseconds of every iteration.
#include <fmt/format.h>

#include <memory>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/summary.h"
#include "profiler/analysis/analysis.h"

namespace vramscope::cli {
namespace {

struct Options {
  std::string file;
  RangeOptions range;
  bool json = false;
};

ExitCode Execute(const Options& options) {
  const auto opened = OpenOneDevice(options.file, options.range);
  if (!opened.ok()) return ReportError(opened.status());
  const trace::Trace& trace = *opened->trace;
  const std::vector<analysis::StepRow> steps =
      analysis::StepTable(trace, analysis::ComputeCurves(trace));
  if (options.json) {
    return PrintJson({{"backend", std::string(trace::Name(trace.info.backend))},
                      {"measured", trace.info.measured},
                      {"steps", StepsJson(trace, steps)}});
  }
  if (steps.empty()) return PrintText("no steps are known in this file\n");
  const trace::TraceInfo& info = trace.info;
  return PrintText(StepsTable(trace, steps) + (!info.has_times ? "\n  The file has no times.\n"
                                               : info.measured ? ""
                                                               : "\n  Times are modelled.\n"));
}

}  // namespace

void RegisterPhases(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("phases", "forward, backward and optimizer times of every iteration");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  AddRangeOptions(*command, options->range);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace vramscope::cli
