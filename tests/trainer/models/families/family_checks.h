// Checks of model families, made with the trainer itself. A model must learn on the cpu backend,
// techniques must not change its losses, its plan must free everything, and its presets must have
// the published numbers of parameters.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {

inline std::vector<double> LossesOfRun(const run::RunConfig& config) {
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  return result.trace == nullptr ? std::vector<double>() : Losses(*result.trace);
}

// Expects that the first loss is that of an untrained model (within `width` of `first`), and that
// the median of the last ten losses is less than 30 % of it.
inline void ExpectLearns(run::RunConfig config, double first, double width = 0.6, int steps = 60) {
  config.steps = steps;
  config.Set("optimizer.lr", "0.01");
  const std::vector<double> losses = LossesOfRun(config);
  ASSERT_EQ(losses.size(), static_cast<size_t>(steps));
  EXPECT_NEAR(losses.front(), first, width);
  // Single losses vary, because batches are small and arithmetic differs between processors.
  std::vector<double> last(losses.end() - 10, losses.end());
  std::ranges::nth_element(last, last.begin() + 5);
  EXPECT_LT(last[5], 0.3 * losses.front());
}

inline void ExpectSameLosses(const std::vector<double>& a, const run::RunConfig& config,
                             const char* what) {
  const std::vector<double> b = LossesOfRun(config);
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 2e-5 * std::abs(a[i])) << what << ", step " << i;
  }
}

// Losses depend on all gradients of earlier steps, so equal losses mean equal gradients.
inline void ExpectTechniquesKeepTheLosses(run::RunConfig config) {
  config.steps = 4;
  config.Set("optimizer.lr", "0.001");
  const std::vector<double> plain = LossesOfRun(config);
  EXPECT_NE(plain.front(), plain.back());
  run::RunConfig other = config;
  other.Set("checkpointing.mode", "layer");
  ExpectSameLosses(plain, other, "checkpointing, layer");
  other.Set("checkpointing.mode", "every-k");
  ExpectSameLosses(plain, other, "checkpointing, every 2");
  other = config;
  other.micro_batches = 2;
  ExpectSameLosses(plain, other, "accumulation");
}

// Expects that a plan has freed every allocation by its end.
inline void ExpectPlans(run::RunConfig config) {
  config.backend = run::Backend::kPlan;
  config.steps = 3;
  const RunResult result = RunTiny(config);
  ASSERT_TRUE(result.status.ok()) << result.status;
  ASSERT_TRUE(result.sink_status.ok()) << result.sink_status;
  const trace::Trace& trace = *result.trace;
  EXPECT_TRUE(trace.complete);
  EXPECT_GT(trace.allocations.size(), 50u);
  for (uint32_t i = 0; i < trace.allocations.size(); ++i) {
    ASSERT_NE(trace.allocations.free_event[i], trace::kNoEvent) << "allocation " << i;
  }
}

inline const char* PresetText(std::string_view name) {
  for (const run::ModelPreset& preset : run::ModelPresets()) {
    if (preset.name == name) return preset.config_json.data();
  }
  ADD_FAILURE() << "no preset " << name;
  return "";
}

// The numbers of parameters that the trace of a plan states for its model.
struct Parameters {
  uint64_t count = 0, trainable = 0, layers = 0;
};
inline Parameters ParametersOf(run::RunConfig config) {
  config.backend = run::Backend::kPlan;
  config.steps = 1;
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  const auto& model = result.trace->info.model;
  return {model.parameter_count, model.trainable_count, model.layers};
}

// Returns the error message of a run that must be refused.
inline std::string Refusal(run::RunConfig config) {
  const RunResult result = RunTiny(config);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << result.status;
  return std::string(result.status.message());
}

// Returns `text` with its first occurrence of `from` replaced by `to`.
inline std::string With(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace vramscope::trainer
