// Tests that inference treats each device of a recording as if it were the only one.
#include <gtest/gtest.h>

#include <tuple>

#include "profiler/inference/infer.h"
#include "profiler/trace/reader.h"
#include "tests/profiler/inference/made.h"

namespace vramscope::inference {
namespace {

using recording::Labels;
using testing::Frames;
using testing::Interleaved;
using testing::Stripped;
using trace::Category;

Stripped GoldenRun(const std::string& name, Frames frames, bool older) {
  const auto trace = trace::ReadTraceFile(
      std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/golden/inference/" + name + ".trace", {});
  EXPECT_TRUE(trace.ok()) << trace.status();
  return testing::Strip(**trace, {.frames = frames, .first_step = older ? 1 : -1});
}

class SeveralDevices : public ::testing::TestWithParam<std::tuple<Frames, bool, const char*>> {};

TEST_P(SeveralDevices, InfersEachDeviceAsIfRecordedAlone) {
  const auto [frames, older, other] = GetParam();
  const Stripped parts[2] = {GoldenRun("gpt2-adamw", frames, older),
                             GoldenRun(other, frames, older)};
  const Interleaved both = testing::Interleave(parts[0], parts[1]);
  const Labels labels = Infer(both.recording, both.history);
  ASSERT_EQ(labels.category.size(), both.history.allocations.size());
  for (int p = 0; p < 2; ++p) {
    SCOPED_TRACE(p);
    const Labels alone = Infer(parts[p].recording, parts[p].history);
    uint32_t category = 0, rule = 0;
    for (uint32_t a = 0; a < alone.category.size(); ++a) {
      category += labels.category[both.allocation[p][a]] != alone.category[a];
      rule += labels.rule[both.allocation[p][a]] != alone.rule[a];
    }
    EXPECT_EQ(category, 0u) << "of " << alone.category.size();
    EXPECT_EQ(rule, 0u);
    std::vector<std::tuple<uint32_t, uint32_t, Category>> expected, found;
    for (const Labels::Retag& r : alone.retags) {
      expected.emplace_back(both.entry[p][r.at], both.allocation[p][r.allocation], r.category);
    }
    for (const Labels::Retag& r : labels.retags) {
      if (both.history.allocations.device[r.allocation] != p) continue;
      found.emplace_back(r.at, r.allocation, r.category);
    }
    EXPECT_EQ(found, expected);
  }
  // Ranges must be in order, and a phase must not continue beyond the begin or end of a step.
  uint32_t at = 0;
  for (const Labels::Step& s : labels.steps) {
    EXPECT_LE(at, s.begin);
    EXPECT_LT(s.begin, s.end);
    at = s.end;
  }
  EXPECT_LE(at, both.recording.entries.size());
  at = 0;
  for (const Labels::PhaseRange& p : labels.phases) {
    EXPECT_LE(at, p.begin);
    EXPECT_LT(p.begin, p.end);
    at = p.end;
    for (const Labels::Step& s : labels.steps) {
      EXPECT_FALSE(p.begin < s.begin && s.begin < p.end);
      EXPECT_FALSE(p.begin < s.end && s.end < p.end);
    }
  }
  EXPECT_FALSE(labels.steps.empty());
  EXPECT_FALSE(labels.phases.empty());
}
INSTANTIATE_TEST_SUITE_P(
    All, SeveralDevices,
    ::testing::Combine(::testing::Values(Frames::kNone, Frames::kPython, Frames::kPythonCpp),
                       ::testing::Bool(),
                       ::testing::Values("gpt2-adamw", "gpt2-sgd", "llama-3.2-1b-lora")));

// In data parallelism, two devices do the same work at the same time. Both have the host's steps.
TEST(DevicesTogether, SameWorkloadOnTwoDevicesSharesSteps) {
  const Stripped run = GoldenRun("gpt2-adamw", Frames::kPythonCpp, false);
  const Interleaved both = testing::Interleave(run, run);
  const Labels labels = Infer(both.recording, both.history);
  const Labels alone = Infer(run.recording, run.history);
  ASSERT_EQ(labels.steps.size(), alone.steps.size());
  for (size_t s = 0; s < alone.steps.size(); ++s) {
    EXPECT_NEAR(labels.steps[s].begin, 2.0 * alone.steps[s].begin, 8);
    EXPECT_NEAR(labels.steps[s].end, 2.0 * alone.steps[s].end, 8);
  }
}

}  // namespace
}  // namespace vramscope::inference
