// `estimate [RUN]`: prints closed-form formulas and their values; --plan adds the plan's figures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "app/cli/worker_run.h"
#include "profiler/base/i18n.h"
#include "profiler/estimate/estimate_run.h"
#include "profiler/estimate/weights.h"
#include "profiler/run/check_run.h"
#include "profiler/run/units.h"

namespace vramscope::cli::estimate_command {
namespace {

using estimate::Formula;
using estimate::Line;
using estimate::Planned;
using estimate::PlannedFigures;
using estimate::Section;

struct Options {
  RunOptions run;
  bool json = false;
  bool plan = false;
  bool list = false;
};

constexpr const char* kStored[] = {"fp32", "bf16", "fp16"};

std::string_view What(Planned planned) {
  switch (planned) {
    case Planned::kNothing:
      return "";
    case Planned::kParameters:
      return i18n::Text("parameters, requested bytes");
    case Planned::kOptimizerState:
      return i18n::Text("requested bytes of the optimizer state after the last step");
    case Planned::kGradients:
      return i18n::Text("requested bytes of the gradients before the last optimizer step");
    case Planned::kLayer:
      return i18n::Text("requested bytes that the middle layer keeps after the forward pass");
    case Planned::kKvCache:
      return i18n::Text("keys and values");
    case Planned::kPeak:
      return i18n::Text("peak of allocated bytes");
  }
  return "";
}

std::string Number(double value) { return fmt::format("{}", value); }

Json TermsJson(const Formula& formula) {
  Json json = Json::array();
  for (const estimate::Term& term : formula.terms)
    json.push_back({{"name", term.name}, {"what", term.what}, {"value", term.value}});
  return json;
}

Json FormulasJson(const std::vector<Section>& sections, const PlannedFigures* planned) {
  Json json = Json::array();
  for (const Section& section : sections) {
    for (const Line& line : section.lines) {
      const Formula& f = line.formula;
      Json one = {{"section", section.title}, {"id", f.id},
                  {"title", f.title},         {"formula", f.text},
                  {"terms", TermsJson(f)},    {"bytes", f.bytes()},
                  {"source", f.source},       {"planned", Json()}};
      const std::optional<uint64_t> figure =
          planned == nullptr ? std::nullopt : planned->Of(line.planned);
      if (figure.has_value()) {
        one["planned"] = *figure;
        one["planned_what"] = What(line.planned);
      }
      json.push_back(std::move(one));
    }
  }
  return json;
}

std::string PutIn(const Formula& formula) {
  std::string text;
  for (const estimate::Term& term : formula.terms)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", term.name, Number(term.value));
  return text;
}

std::string Against(const Line& line, const PlannedFigures* planned) {
  if (planned == nullptr || line.planned == Planned::kNothing) return "";
  const std::optional<uint64_t> figure = planned->Of(line.planned);
  if (!figure.has_value()) return "";
  const double of = static_cast<double>(*figure);
  const double error = of > 0 ? 100 * (line.formula.value - of) / of : 0;
  if (line.formula.bytes() == *figure)
    return i18n::Format("      planned: {} ({}; the formula gives the same)\n",
                        run::FormatBytes(*figure), What(line.planned));
  return i18n::Format("      planned: {} ({}; the formula differs by {:+.2f} %)\n",
                      run::FormatBytes(*figure), What(line.planned), error);
}

std::string FormulasText(const std::vector<Section>& sections, const PlannedFigures* planned) {
  std::string text;
  for (const Section& section : sections) {
    text += fmt::format("\n{}\n", i18n::Text(section.title));
    for (const Line& line : section.lines) {
      const Formula& f = line.formula;
      text += fmt::format("  {:<52} {:>12}\n", i18n::Text(f.title), run::FormatBytes(f.bytes()));
      text += fmt::format("      {} : {}\n", f.text, PutIn(f));
      text += Against(line, planned);
    }
    if (!section.note.empty()) text += Prose(i18n::Text(section.note));
  }
  return text;
}

std::string StaticText(uint64_t parameters) {
  Table table({{i18n::Text("Training all weights")},
               {i18n::Text("Precision")},
               {i18n::Text("Weights"), Table::kRight},
               {i18n::Text("Gradients"), Table::kRight},
               {i18n::Text("State"), Table::kRight},
               {i18n::Text("Sum"), Table::kRight}});
  for (const estimate::StaticCell& cell : estimate::StaticTable(parameters)) {
    table.Row({i18n::Text(cell.optimizer), std::string(cell.precision),
               run::FormatBytes(cell.weights), run::FormatBytes(cell.gradients),
               run::FormatBytes(cell.state), run::FormatBytes(cell.total())});
  }
  return "\n" + table.Text();
}

ExitCode List(bool as_json) {
  if (as_json) {
    Json json;
    json["formulas"] = Json::array();
    for (const Formula& f : estimate::Formulas()) {
      Json one = {{"id", f.id}, {"title", f.title}, {"formula", f.text}, {"source", f.source}};
      for (const estimate::Term& term : f.terms)
        one["terms"].push_back({{"name", term.name}, {"what", term.what}});
      json["formulas"].push_back(std::move(one));
    }
    return PrintJson(json);
  }
  std::string text;
  for (const Formula& f : estimate::Formulas()) {
    text += fmt::format("{}: {}\n  {}\n", f.id, i18n::Text(f.title), f.text);
    for (const estimate::Term& term : f.terms)
      text += fmt::format("    {} {}\n", term.name, i18n::Text(term.what));
    text += Prose(i18n::Format("Source: {}", i18n::Text(f.source)));
  }
  return PrintText(text);
}

ExitCode Execute(const Options& options) {
  if (options.list) return List(options.json);
  const absl::StatusOr<run::RunConfig> config = BuildRun(options.run, run::Backend::kPlan);
  if (!config.ok()) return ReportError(config.status());
  const absl::StatusOr<run::ModelConfig> model = run::CheckRun(*config);
  if (!model.ok()) return ReportError(model.status());
  if (model->family == run::Family::kOther) {
    return ReportError(absl::UnimplementedError(i18n::Format(
        "the weights of {} cannot be estimated by formula; use `vramscope plan`", config->model)));
  }
  PlannedFigures figures;
  const PlannedFigures* planned = nullptr;
  if (options.plan) {
    const WorkerRun result = RunInWorker(*config);
    if (!result.status.ok()) return ReportError(result.status);
    if (result.trace == nullptr)
      return ReportError(absl::InternalError(i18n::Text("the run produced no trace")));
    figures = estimate::FiguresOf(*result.trace);
    planned = &figures;
  }
  const estimate::WeightCount count = estimate::CountWeights(*model);
  const std::vector<Section> sections = estimate::EstimateRun(*config, *model);
  const std::vector<run::Assumption> assumptions = run::WeightAssumptions(*config, *model);
  const uint64_t bytes = count.total() * estimate::BytesPerWeight(config->Get("precision"));
  const std::pair<std::string, uint64_t> parts[] = {{TEXT_MARK("embedding"), count.embedding},
                                                    {"attention", count.attention},
                                                    {TEXT_MARK("mlp"), count.mlp},
                                                    {TEXT_MARK("norm"), count.norm},
                                                    {TEXT_MARK("output"), count.output}};
  if (options.json) {
    Json json;
    json["model"] = config->model;
    json["family"] = count.family;
    json["layers"] = count.layers;
    json["precision"] = config->Get("precision");
    json["parameters"] = {{"count", count.total()}, {"bytes", bytes}};
    for (const auto& [name, elements] : parts) json["parts"][name] = elements;
    for (const char* precision : kStored) {
      json["weight_bytes"][precision] = count.total() * estimate::BytesPerWeight(precision);
    }
    json["formulas"] = FormulasJson(sections, planned);
    for (const estimate::StaticCell& cell : estimate::StaticTable(count.total())) {
      json["training"].push_back({{"optimizer", cell.optimizer},
                                  {"precision", cell.precision},
                                  {"weights", cell.weights},
                                  {"gradients", cell.gradients},
                                  {"optimizer_state", cell.state},
                                  {"total", cell.total()}});
    }
    json["assumptions"] = AssumptionsJson(assumptions);
    return PrintJson(json);
  }
  std::string text = i18n::Format("{} ({}, {} layers): {} weights, {} in {}\n\n", config->model,
                                  count.family, count.layers, Count(count.total()),
                                  run::FormatBytes(bytes), config->Get("precision"));
  Table table({{i18n::Text("Part")},
               {i18n::Text("Weights"), Table::kRight},
               {"fp32", Table::kRight},
               {"bf16, fp16", Table::kRight}});
  const auto row = [&](const std::string& name, uint64_t elements) {
    table.Row(
        {name, Count(elements), run::FormatBytes(elements * 4), run::FormatBytes(elements * 2)});
  };
  for (const auto& [name, elements] : parts) {
    row(name == "output" && elements == 0 ? i18n::Text("output (tied to the embedding)")
                                          : i18n::Text(name),
        elements);
  }
  row(i18n::Text("total"), count.total());
  const std::string hint = planned != nullptr
                               ? i18n::Text("Formulas, compared with a plan of the same run.")
                               : i18n::Text(
                                     "All values come from formulas. To compare them with a plan, "
                                     "use `estimate --plan`. For the meaning of the letters in the "
                                     "formulas, use `estimate --formulas`.");
  return PrintText(text + table.Text() + StaticText(count.total()) +
                   FormulasText(sections, planned) + "\n" + Prose(hint) +
                   AssumptionsText(assumptions));
}

void DeclareEstimate(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  AddRunOptions(*command, options->run);
  command->add_flag("--plan", options->plan,
                    "also plan the run, and print the planned values next to the formulas");
  command->add_flag("--formulas", options->list, "print only the formulas themselves");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_estimate() {
  return {.place = 130,
          .name = "estimate",
          .help = "estimate memory with closed-form formulas",
          .example = "estimate --model config.json",
          .declare = DeclareEstimate};
}

}  // namespace vramscope::cli::estimate_command
