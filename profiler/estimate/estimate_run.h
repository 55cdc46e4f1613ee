// Evaluates the closed-form formulas (formula.h) for a run without building or planning it.
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

// Returns the sections in display order. A section's note names the figures that have no formula.
// Patterns of trainable parameters and some model families have no formulas.
std::vector<Section> EstimateRun(const run::RunConfig& config, const run::ModelConfig& model);

// Returns the number of parameters that LoRA adds: rank x (inputs + outputs) for each target layer.
uint64_t LoraParameters(const run::RunConfig& config, const run::ModelConfig& model);
// Returns the number of trainable parameters, or nullopt if `trainable` is a pattern: what it
// matches is unknown until the model is built.
std::optional<uint64_t> TrainableParameters(const run::RunConfig& config,
                                            const run::ModelConfig& model);

// The bytes of weights, gradients and optimizer state for one optimizer and precision. All weights
// are trained.
struct StaticCell {
  std::string_view optimizer, precision;
  uint64_t weights = 0, gradients = 0, state = 0;
  uint64_t total() const { return weights + gradients + state; }
};
std::vector<StaticCell> StaticTable(uint64_t parameters);

}  // namespace vramscope::estimate
