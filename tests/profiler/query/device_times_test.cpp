#include "profiler/query/device_times.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/step_time.h"
#include "tests/profiler/query/launches.h"

namespace vramscope::query {
namespace {

using trace::ActivityKind;
using trace::Phase;
using trace::SliceKind;

// Computes the result by brute force. To find the innermost slice at a point in time, checks all
// slices. The begins and ends of the step's kernels and memcpys divide time into intervals, and the
// GPU is busy in an interval if a kernel or memcpy covers it.
double BusyMs(const trace::Trace& t, uint32_t step, std::optional<std::set<Phase>> phases) {
  const trace::ActivityTable& a = t.activities;
  const trace::SliceTable& s = t.slices;
  const auto around = [&](SliceKind kind, int64_t ns) {
    uint32_t found = kNoRow;
    for (uint32_t row = 0; row < s.size(); ++row)
      if (s.kind[row] == kind && s.begin_ns[row] <= ns && ns < s.end_ns[row]) found = row;
    return found;
  };
  std::vector<uint32_t> of;
  std::set<int64_t> edges;
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.kind[row] != ActivityKind::kKernel && a.kind[row] != ActivityKind::kMemcpy) continue;
    for (uint32_t call = 0; call < a.size(); ++call) {
      if (a.kind[call] != ActivityKind::kRuntimeCall || a.correlation[row] == 0 ||
          a.correlation[call] != a.correlation[row] ||
          around(SliceKind::kStep, a.begin_ns[call]) != step)
        continue;
      const uint32_t phase = around(SliceKind::kPhase, a.begin_ns[call]);
      if (phases && (phase == kNoRow || !phases->contains(s.phase(phase)))) continue;
      of.push_back(row);
      edges.insert({a.begin_ns[row], a.end_ns[row]});
    }
  }
  int64_t ns = 0;
  for (auto it = edges.begin(); it != edges.end(); ++it)
    for (const uint32_t row : of)
      if (a.begin_ns[row] <= *it && *it < a.end_ns[row]) {
        ns += *std::next(it) - *it;
        break;
      }
  return static_cast<double>(ns) * 1e-6;
}

TEST(DeviceTimes, EqualBruteForceComputation) {
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const auto t = WithLaunches(seed);
    const std::vector<DeviceTimes> times = DeviceTimesOfSteps(ActivityIndex(t));
    ASSERT_EQ(times.size(), analysis::StepTable(*t, analysis::ComputeCurves(*t)).size());
    size_t number = 0;
    double all = 0;
    for (uint32_t row = 0; row < t->slices.size(); ++row) {
      if (t->slices.kind[row] != SliceKind::kStep || t->slices.depth[row] != 0) continue;
      const DeviceTimes& step = times[number++];
      EXPECT_NEAR(step.forward_ms, BusyMs(*t, row, std::set{Phase::kForward, Phase::kLoss}), 1e-9);
      EXPECT_NEAR(step.backward_ms, BusyMs(*t, row, std::set{Phase::kBackward}), 1e-9);
      EXPECT_NEAR(step.optimizer_ms, BusyMs(*t, row, std::set{Phase::kOptimizer}), 1e-9);
      EXPECT_NEAR(step.busy_ms, BusyMs(*t, row, std::nullopt), 1e-9);
      all += step.forward_ms + step.backward_ms + step.optimizer_ms;
    }
    EXPECT_GT(all, 0);
  }
}

// Returns a trace of two steps. Each takes 10 ms on the host and `gpu_ns` on the GPU, which may
// finish later than the host.
std::shared_ptr<const trace::Trace> HostAhead(int64_t gpu_ns) {
  auto t = std::make_shared<trace::Trace>();
  constexpr int64_t kStep = 10'000'000;
  for (int64_t step = 0; step < 2; ++step) {
    const auto cause = static_cast<uint64_t>(step + 1);
    t->activities.Append({.kind = ActivityKind::kRuntimeCall,
                          .correlation = cause,
                          .begin_ns = step * kStep + 5,
                          .end_ns = step * kStep + 6});
    t->activities.Append({.kind = ActivityKind::kKernel,
                          .correlation = cause,
                          .begin_ns = step * gpu_ns + 7,
                          .end_ns = (step + 1) * gpu_ns + 7});
  }
  trace::SortActivities(t->activities);
  return t;
}

TEST(DeviceTimes, StepEndsWhenItsLastKernelEnds) {
  const std::vector<analysis::StepRow> steps = {
      {.index = 0, .begin_ns = 0, .end_ns = 10'000'000, .total_ms = 10},
      {.index = 1, .begin_ns = 10'000'000, .end_ns = 20'000'000, .total_ms = 10}};
  EXPECT_DOUBLE_EQ(analysis::LastStepMs(*HostAhead(50'000'000), steps), 50);
  // Here, the GPU finishes before the step ends on the host.
  EXPECT_DOUBLE_EQ(analysis::LastStepMs(*HostAhead(1'000'000), steps), 10);
  EXPECT_DOUBLE_EQ(analysis::LastStepMs(trace::Trace(), steps), 10);  // no activities
  EXPECT_DOUBLE_EQ(analysis::LastStepMs(*HostAhead(50'000'000), {}), 0);
}

TEST(DeviceTimes, AreEmptyWithoutLaunchCalls) {
  auto t = std::make_shared<trace::Trace>(*analysis::MakeRandomTrace({.seed = 1}));
  t->activities.Append({.begin_ns = 1, .end_ns = 100});
  EXPECT_TRUE(DeviceTimesOfSteps(ActivityIndex(t)).empty());
}

}  // namespace
}  // namespace vramscope::query
