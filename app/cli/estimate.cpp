// `estimate [RUN]`: closed-form formulas only; in this version the weights.
#include <fmt/format.h>

#include <memory>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "profiler/estimate/weights.h"
#include "profiler/run/check_run.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

struct Options {
  RunOptions run;
  bool json = false;
};

constexpr run::Precision kStored[] = {run::Precision::kFp32, run::Precision::kBf16,
                                      run::Precision::kFp16};

ExitCode Execute(const Options& options) {
  const absl::StatusOr<run::RunConfig> config = BuildRun(options.run, run::Backend::kPlan);
  if (!config.ok()) return ReportError(config.status());
  const absl::StatusOr<run::ModelConfig> model = run::CheckRun(*config);
  if (!model.ok()) return ReportError(model.status());
  const estimate::WeightCount count = estimate::CountWeights(*model);
  const std::vector<run::Assumption> assumptions = run::WeightAssumptions(*config, *model);
  const uint64_t bytes = count.total() * estimate::BytesPerWeight(config->precision);
  const std::pair<std::string, uint64_t> parts[] = {{"embedding", count.embedding},
                                                    {"attention", count.attention},
                                                    {"mlp", count.mlp},
                                                    {"norm", count.norm},
                                                    {"output", count.output}};
  if (options.json) {
    Json json;
    json["model"] = config->model;
    json["family"] = count.family;
    json["layers"] = count.layers;
    json["precision"] = std::string(run::Name(config->precision));
    json["parameters"] = {{"count", count.total()}, {"bytes", bytes}};
    for (const auto& [name, elements] : parts) json["parts"][name] = elements;
    for (run::Precision precision : kStored) {
      json["weight_bytes"][std::string(run::Name(precision))] =
          count.total() * estimate::BytesPerWeight(precision);
    }
    json["assumptions"] = AssumptionsJson(assumptions);
    return PrintJson(json);
  }
  std::string text = fmt::format("{} ({}, {} layers): {} weights, {} in {}\n\n", config->model,
                                 count.family, count.layers, Count(count.total()),
                                 run::FormatBytes(bytes), run::Name(config->precision));
  Table table({{"Part"},
               {"Weights", Table::kRight},
               {"fp32", Table::kRight},
               {"bf16, fp16", Table::kRight}});
  const auto row = [&](const std::string& name, uint64_t elements) {
    table.Row(
        {name, Count(elements), run::FormatBytes(elements * 4), run::FormatBytes(elements * 2)});
  };
  for (const auto& [name, elements] : parts) {
    row(name == "output" && elements == 0 ? "output (tied to the embedding)" : name, elements);
  }
  row("total", count.total());
  return PrintText(text + table.Text() +
                   "\n  Weights only; `vramscope plan` gives the whole training step.\n" +
                   AssumptionsText(assumptions));
}

}  // namespace

void RegisterEstimate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("estimate", "the weights' size by formula");
  auto options = std::make_shared<Options>();
  AddRunOptions(*command, options->run);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace vramscope::cli
