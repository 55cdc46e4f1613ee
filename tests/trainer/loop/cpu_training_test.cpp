// Tests the cpu backend: trains tiny models, and checks the effect of techniques on values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

using run::Backend;
using testing::HasSubstr;

run::RunConfig Cpu(const char* model) { return TinyConfig(Backend::kCpu, model); }

class LossFalls : public testing::TestWithParam<const char*> {};

TEST_P(LossFalls, OnTheSyntheticTask) {
  run::RunConfig config = Cpu(GetParam());
  config.steps = 60;
  config.Set("optimizer.lr", "0.01");
  const RunResult result = RunTiny(config);
  ASSERT_TRUE(result.status.ok()) << result.status;
  ASSERT_TRUE(result.sink_status.ok()) << result.sink_status;
  const std::vector<double> losses = Losses(*result.trace);
  ASSERT_EQ(losses.size(), 60u);
  EXPECT_NEAR(losses.front(), std::log(96.0), 0.6);
  EXPECT_LT(losses.back(), 0.3 * losses.front());
}

INSTANTIATE_TEST_SUITE_P(Families, LossFalls,
                         testing::Values(kTinyQwen, kTinyLlama, kTinyMistral, kTinyGpt2,
                                         kTinyGpt2Dropout));

TEST(CpuTraining, TraceIsMeasuredAndComplete) {
  const RunResult result = RunTiny(Cpu(kTinyQwen));
  ASSERT_TRUE(result.status.ok()) << result.status;
  const trace::Trace& trace = *result.trace;
  EXPECT_TRUE(trace.complete);
  EXPECT_TRUE(trace.info.measured);
  EXPECT_EQ(trace.info.backend, trace::Backend::kCpu);
  EXPECT_GT(trace.info.start_unix_ns, 0);
  EXPECT_GT(trace.allocations.size(), 100u);
  for (uint32_t i = 0; i < trace.allocations.size(); ++i) {
    EXPECT_NE(trace.allocations.free_event[i], trace::kNoEvent) << "allocation " << i;
  }
}

// Returns the losses of several steps. Losses depend on all gradients of earlier steps, so equal
// losses mean equal gradients.
std::vector<double> LossesOf(const run::RunConfig& config) {
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  return Losses(*result.trace);
}

void ExpectNear(const std::vector<double>& a, const std::vector<double>& b, double relative) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], relative * std::abs(a[i])) << "step " << i;
  }
}

TEST(CpuTraining, TechniquesKeepTheLossCurve) {
  for (const char* model : {kTinyQwen, kTinyGpt2, kTinyMistral}) {
    run::RunConfig plain = Cpu(model);
    plain.steps = 5;
    plain.Set("optimizer.lr", "0.001");
    const std::vector<double> expected = LossesOf(plain);
    run::RunConfig config = plain;
    config.Set("checkpointing.mode", "layer");
    ExpectNear(expected, LossesOf(config), 1e-5);
    config.Set("checkpointing.mode", "every-k");
    ExpectNear(expected, LossesOf(config), 1e-5);
    config = plain;
    config.micro_batches = 2;
    ExpectNear(expected, LossesOf(config), 1e-5);
    config = plain;
    config.Set("attention", "math");
    ExpectNear(expected, LossesOf(config), 1e-5);
    if (model != kTinyMistral) {
      config.Set("attention", "flash");
      ExpectNear(expected, LossesOf(config), 1e-5);
    }
  }
}

TEST(CpuTraining, CheckpointingRepeatsDropout) {
  run::RunConfig plain = Cpu(kTinyGpt2Dropout);
  plain.steps = 4;
  run::RunConfig checkpointed = plain;
  checkpointed.Set("checkpointing.mode", "layer");
  ExpectNear(LossesOf(plain), LossesOf(checkpointed), 1e-5);
}

TEST(CpuTraining, EveryPrecisionTrains) {
  for (auto precision : {"bf16", "amp-bf16", "amp-fp16"}) {
    run::RunConfig config = Cpu(kTinyQwen);
    config.Set("precision", precision);
    config.steps = 20;
    config.Set("optimizer.lr", "0.01");
    const std::vector<double> losses = LossesOf(config);
    ASSERT_EQ(losses.size(), 20u) << precision;
    EXPECT_LT(losses.back(), 0.8 * losses.front()) << precision;
  }
}

TEST(CpuTraining, CancelEndsTheRun) {
  std::atomic<bool> cancel{false};
  run::RunConfig config = Cpu(kTinyQwen);
  config.steps = 200;
  RunHooks hooks;
  hooks.cancel = &cancel;
  hooks.progress = [&](int step, int, const std::string&) { cancel = step >= 2; };
  const RunResult result = RunTiny(config, hooks);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(result.trace->complete);
  EXPECT_LT(Losses(*result.trace).size(), 10u);
  // A run after a cancelled run must succeed.
  EXPECT_TRUE(RunTiny(Cpu(kTinyQwen)).status.ok());
}

TEST(CpuTraining, RejectsInvalidConfigurations) {
  const auto message = [](const run::RunConfig& config) {
    const RunResult result = RunTiny(config);
    EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << result.status;
    EXPECT_FALSE(result.trace->complete);
    return std::string(result.status.message());
  };
  run::RunConfig config = Cpu(kTinyQwen);
  config.batch = 3;
  config.micro_batches = 2;
  EXPECT_THAT(message(config), HasSubstr("micro_batches"));
  config = Cpu(kTinyQwen);
  config.batch = -1;
  EXPECT_THAT(message(config), HasSubstr("batch = -1"));
  config = Cpu(kTinyQwen);
  config.Set("lora.rank", "4");
  config.Set("lora.targets", "q_proj,nosuch");
  EXPECT_THAT(message(config), HasSubstr("nosuch"));
  config = Cpu(kTinyQwen);
  config.Set("trainable", "nothing.*");
  EXPECT_THAT(message(config), HasSubstr("nothing.*"));
  config = Cpu(kTinyGpt2);
  config.seq = 64;
  EXPECT_THAT(message(config), HasSubstr("32 positions"));
  config = TinyConfig(Backend::kPlan, kTinyQwen);
  config.Set("attention", "flash");
  EXPECT_THAT(message(config), HasSubstr("attention=flash needs a 16-bit precision"));
  EXPECT_TRUE(RunTiny(Cpu(kTinyQwen)).status.ok());
}

}  // namespace
}  // namespace vramscope::trainer
