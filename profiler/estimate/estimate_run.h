// Evaluates the closed formulas for a run (formula.h). Nothing is built or planned.
//
//   ASSIGN_OR_RETURN(run::ModelConfig model, run::CheckRun(config));
//   for (const Section& section : EstimateRun(config, model)) ...
//
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/estimate/formula.h"
#include "profiler/estimate/planned.h"
#include "profiler/run/model_config.h"
#include "profiler/run/run_config.h"

namespace vramscope::estimate {

struct Line {
  Formula formula;
  Planned planned = Planned::kNothing;
};
struct Section {
  std::string title;  // "Training, static"
  std::string note;   // what the section leaves out; may be empty
  std::vector<Line> lines;
};

// Sections in display order. Figures without a formula (a pattern of trainable parameters, a family
// of models without formulas) are left out, and the section's note says so.
std::vector<Section> EstimateRun(const run::RunConfig& config, const run::ModelConfig& model);

// Parameters that LoRA adds: rank x (inputs + outputs) for every target layer.
uint64_t LoraParameters(const run::RunConfig& config, const run::ModelConfig& model);
// Number of trainable parameters; nullopt for a pattern, which can be resolved only with the built
// model.
std::optional<uint64_t> TrainableParameters(const run::RunConfig& config,
                                            const run::ModelConfig& model);

// Weights, gradients and optimizer state of full training under every optimizer and precision.
struct StaticCell {
  std::string_view optimizer, precision;
  uint64_t weights = 0, gradients = 0, state = 0;
  uint64_t total() const { return weights + gradients + state; }
};
std::vector<StaticCell> StaticTable(uint64_t parameters);

}  // namespace vramscope::estimate
