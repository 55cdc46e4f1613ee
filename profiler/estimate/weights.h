// Counts the weights of a model with formulas, from its configuration. The model is not built.
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

// Numbers of elements. Each parameter counts once. A tied output projection counts as embedding.
struct WeightCount {
  std::string family;  // model_type: "qwen2", "llama", "mistral", "gpt2", "basics"
  uint64_t layers = 0;
  uint64_t embedding = 0;  // embeddings of tokens, and learned positions
  uint64_t attention = 0;  // all layers
  uint64_t mlp = 0;        // all layers
  uint64_t norm = 0;       // all layers and the final norm
  uint64_t output = 0;     // 0 if tied
  uint64_t total() const { return embedding + attention + mlp + norm + output; }
};

WeightCount CountWeights(const run::ModelConfig& model);
// Counts the weights of the model that the text of a config.json describes. Returns errors of
// run::ParseModelConfig(), and kUnimplemented for a model family without formulas.
absl::StatusOr<WeightCount> CountWeights(std::string_view config_json);

// Returns the bytes of one weight in memory. Under autocast, weights are fp32.
uint64_t BytesPerWeight(std::string_view precision);

}  // namespace vramscope::estimate
