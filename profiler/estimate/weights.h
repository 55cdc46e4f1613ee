// Closed-form counts of a model's weights, from its configuration alone: nothing is built.
//
//   ASSIGN_OR_RETURN(run::ModelConfig model, run::CheckRun(config));
//   const WeightCount w = CountWeights(model);
//   w.total() * BytesPerWeight(config.Get("precision"));
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/run/model_config.h"
#include "profiler/run/run_config.h"

namespace vramscope::estimate {

// Elements, each parameter once (a tied output projection counts as the embedding).
struct WeightCount {
  std::string family;  // model_type: "qwen2", "llama", "mistral", "gpt2", "basics"
  uint64_t layers = 0;
  uint64_t embedding = 0;  // tokens, and learned positions
  uint64_t attention = 0;  // all layers
  uint64_t mlp = 0;        // all layers
  uint64_t norm = 0;       // all layers and the last one
  uint64_t output = 0;     // 0 when tied
  uint64_t total() const { return embedding + attention + mlp + norm + output; }
};

WeightCount CountWeights(const run::ModelConfig& model);
// Of a config.json's text. Errors are those of run::ParseModelConfig(), and kUnimplemented: a
// family that no formula counts.
absl::StatusOr<WeightCount> CountWeights(std::string_view config_json);

// Bytes of one weight as it lies in memory; autocast keeps its weights in fp32.
uint64_t BytesPerWeight(std::string_view precision);

}  // namespace vramscope::estimate
