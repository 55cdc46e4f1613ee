// Tests resume. If the checkpoint is loaded onto the GPU, the weights must be there twice. Training
// must continue as if it had not been interrupted.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/analysis/analysis.h"
#include "tests/trainer/loop/run_helpers.h"

namespace vramscope::trainer {
namespace {

using trace::Category;

run::RunConfig Config(run::Backend backend, const char* resume) {
  run::RunConfig config = TinyConfig(backend, kTinyQwen);
  config.Set("resume.map_location", resume);
  return config;
}

struct Seen {
  uint64_t begin = 0, highest = 0, end = 0;  // requested bytes in the phase
  uint64_t parameters = 0, state = 0;
};
Seen Plan(const run::RunConfig& config) {
  Seen seen;
  const RunResult result = RunTiny(config);
  EXPECT_TRUE(result.status.ok()) << result.status;
  if (!result.status.ok()) return seen;
  const analysis::MemoryCurves curves = analysis::ComputeCurves(*result.trace);
  const trace::SliceTable& slices = result.trace->slices;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.kind[row] != trace::SliceKind::kPhase) continue;
    if (slices.phase(row) != trace::Phase::kLoad) continue;
    const auto begin = analysis::PointAt(curves, slices.begin_event[row]);
    const auto end = analysis::PointAt(curves, slices.end_event[row]);
    if (!begin || !end) continue;
    seen.begin = curves.requested[*begin];
    seen.end = curves.requested[*end];
    seen.highest = *std::max_element(curves.requested.begin() + static_cast<int64_t>(*begin),
                                     curves.requested.begin() + static_cast<int64_t>(*end) + 1);
  }
  const trace::AllocationTable& all = result.trace->allocations;
  for (uint32_t i = 0; i < all.size(); ++i) {
    EXPECT_NE(all.free_event[i], trace::kNoEvent) << i;
    if (all.category[i] == Category::kParameter) seen.parameters += all.bytes[i];
    if (all.category[i] == Category::kOptimizerState) seen.state += all.bytes[i];
  }
  return seen;
}

TEST(Resuming, LoadingOntoGpuHoldsWeightsTwice) {
  const Seen host = Plan(Config(run::Backend::kPlan, "cpu"));
  const Seen gpu = Plan(Config(run::Backend::kPlan, "cuda"));
  ASSERT_GT(host.parameters, 0u);
  EXPECT_EQ(host.highest, host.begin + host.state);
  EXPECT_EQ(host.end, host.highest);
  EXPECT_EQ(gpu.highest, gpu.begin + gpu.state + gpu.parameters);
  EXPECT_EQ(gpu.end, gpu.begin + gpu.state);
  EXPECT_GT(gpu.state, host.state) << "step counters are on the GPU, too";
  run::RunConfig kept = Config(run::Backend::kPlan, "cuda");
  kept.Set("resume.keeps", "true");
  const Seen named = Plan(kept);
  EXPECT_EQ(named.end, named.highest);
}

TEST(Resuming, KeepsTheLosses) {
  for (const char* optimizer : {"adamw", "sgd"}) {
    run::RunConfig plain = Config(run::Backend::kCpu, "none");
    plain.Set("optimizer.name", optimizer);
    plain.Set("optimizer.momentum", optimizer == std::string("sgd") ? "0.9" : "0");
    run::RunConfig resumed = plain;
    resumed.Set("resume.map_location", "cpu");
    const RunResult one = RunTiny(plain), other = RunTiny(resumed);
    ASSERT_TRUE(one.status.ok()) << one.status;
    ASSERT_TRUE(other.status.ok()) << other.status;
    EXPECT_EQ(Losses(*one.trace).size(), 3u);
    EXPECT_EQ(Losses(*one.trace), Losses(*other.trace)) << optimizer;
  }
}

}  // namespace
}  // namespace vramscope::trainer
