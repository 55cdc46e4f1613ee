// `check [RUN|FILE] --budget SIZE`: exit 1 when the run needs more.
#include <fmt/format.h>

#include <memory>

#include "app/cli/command.h"
#include "app/cli/input.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "app/cli/worker_run.h"
#include "profiler/analysis/analysis.h"
#include "profiler/fit/fit.h"
#include "profiler/run/check_run.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

struct Options {
  RunOptions run;
  RangeOptions range;
  std::string file, budget, context;
  bool json = false;
};

// Sizes, or a name of the device table, whose context is meant.
absl::StatusOr<run::Assumption> ParseContext(const std::string& text) {
  const absl::StatusOr<run::DeviceProfile> device = run::FindDevice(text);
  if (device.ok()) return run::ContextAssumption(*device);
  const absl::StatusOr<uint64_t> bytes = run::ParseBytes(text);
  if (bytes.ok())
    return run::Assumption{"CUDA context and libraries take what was given", "--context", *bytes};
  return absl::InvalidArgumentError(std::string(bytes.status().message()) +
                                    ", and no name of `vramscope devices`");
}

// The CUDA context beside the allocator's memory. A plan and a program's recording know their card;
// one whose card is not in the device table, and a recording of others, is taken to have run on the
// device that plans are made for.
run::Assumption ContextOf(const trace::Trace& trace, const Options& options) {
  if (!options.context.empty()) return ParseContext(options.context).value();
  if (trace.info.device.context_bytes > 0) return run::ContextAssumption(trace.info.device);
  run::Assumption assumed =
      run::ContextAssumption(run::FindDevice(run::RunConfig().device).value());
  assumed.what += ", as for a plan; a recording does not say (--context does)";
  return assumed;
}

// A budget is what the device must hold: the reserved memory and the CUDA context beside it.
ExitCode Judge(const trace::Trace& trace, uint64_t budget, const Options& options) {
  const bool as_json = options.json;
  const analysis::Summary summary = analysis::Summarize(trace, analysis::ComputeCurves(trace));
  const run::Assumption assumed = ContextOf(trace, options);
  const uint64_t context = assumed.bytes;
  const uint64_t needed = summary.most_used.sum() + context;
  const bool within = needed <= budget && !summary.out_of_memory;
  ExitCode printed;
  if (as_json) {
    Json json;
    json["within_budget"] = within;
    json["budget"] = budget;
    json["needed"] = needed;
    json["over"] = needed > budget ? needed - budget : 0;
    json["context"] = context;
    json["past_allocator"] = summary.most_used.past_allocator;
    json["out_of_memory"] = summary.out_of_memory;
    json["peak"] = {{"allocated", summary.peak.allocated}, {"reserved", summary.peak.reserved}};
    json["peak_by_category"] = CategoriesJson(summary.peak.by_category);
    json["assumptions"] = AssumptionsJson({assumed});
    printed = PrintJson(json);
  } else {
    printed = PrintText(
        fmt::format("{}: needs {} ({} + {} CUDA context), budget {}: {}\n",
                    within ? "within the budget" : "over the budget", run::FormatBytes(needed),
                    UseText(summary.most_used), run::FormatBytes(context), run::FormatBytes(budget),
                    needed > budget ? run::FormatBytes(needed - budget) + " too much"
                    : within        ? run::FormatBytes(budget - needed) + " to spare"
                                    : "the run ran out of memory") +
        AssumptionsText({assumed}));
  }
  return printed != kDone ? printed : within ? kDone : kNo;
}

ExitCode Execute(const Options& options) {
  const absl::StatusOr<uint64_t> budget = ParseBudget(options.budget);
  if (!budget.ok()) {
    Note("error: " + std::string(budget.status().message()));
    return kUsage;
  }
  if (!options.context.empty()) {
    const absl::StatusOr<run::Assumption> context = ParseContext(options.context);
    if (!context.ok()) {
      Note("error: --context: " + std::string(context.status().message()));
      return kUsage;
    }
  }
  if (!options.file.empty()) {
    if (options.run.given()) {
      Note("error: check takes a FILE or a RUN (--preset, --model, --config, --set), not both");
      return kUsage;
    }
    const auto opened = OpenOneDevice(options.file, options.range);
    if (!opened.ok()) return ReportError(opened.status());
    return Judge(*opened->trace, *budget, options);
  }
  const absl::StatusOr<run::RunConfig> config = BuildRun(options.run, run::Backend::kPlan);
  if (!config.ok()) return ReportError(config.status());
  const WorkerRun result = RunInWorker(fit::UnderBudget(*config, *budget));
  if (!result.status.ok()) return ReportError(result.status);
  if (result.trace == nullptr) return ReportError(absl::InternalError("the run left no trace"));
  return Judge(*result.trace, *budget, options);
}

}  // namespace

void RegisterCheck(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("check", "exit 1 when a run or a trace needs more memory");
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file,
                      "a .trace or CUDA memory snapshot; without it RUN is planned");
  AddRunOptions(*command, options->run);
  AddDevice(*command, options->range);
  command->add_option("--budget", options->budget, "what the device may hold, as 24GiB")
      ->required()
      ->type_name("SIZE");
  command
      ->add_option(
          "--context", options->context,
          "what the CUDA context takes beside the allocator's memory: 450MiB, or that of a "
          "GPU of `vramscope devices`; default: of the run's device, for a recording of " +
              run::RunConfig().device)
      ->type_name("SIZE|NAME");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace vramscope::cli
