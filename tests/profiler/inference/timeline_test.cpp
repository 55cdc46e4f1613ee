// Tests ranges of phases that are derived from stacks, and IsNoise(), which returns whether the
// phases are only noise, without an order.
#include "profiler/inference/timeline.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using trace::Phase;

Timeline Empty(EntryIndex entries) {
  Timeline t;
  t.phase.assign(entries, Phase::kNone);
  t.rule.assign(entries, kStatedByProducer);
  return t;
}

// If a model has few layers, its phases are as short as noise. But they repeat.
TEST(Timeline, ShortRepeatedPhasesAreNotNoise) {
  Timeline t = Empty(300 * 12);
  for (EntryIndex at = 0; at < t.size(); at += 12) {
    t.Mark(at, at + 4, Phase::kForward, kStackForward);
    t.Mark(at + 4, at + 5, Phase::kLoss, kStackLoss);
    t.Mark(at + 5, at + 10, Phase::kBackward, kStackBackward);
    t.Mark(at + 10, at + 12, Phase::kOptimizer, kStackOptimizer);
  }
  EXPECT_EQ(PhaseRanges(t).size(), 300u * 4);
  EXPECT_FALSE(IsNoise(t));
}

TEST(Timeline, RandomPhasesAreNoise) {
  std::mt19937 random(5);
  Timeline t = Empty(5000);
  for (EntryIndex i = 0; i < t.size(); ++i) {
    if (random() % 3 == 0) {
      t.Mark(i, i + 1, Phase::kForward, kStackForward);
    } else {
      t.Mark(i, i + 1, Phase::kBackward, kStackBackward);
    }
  }
  EXPECT_TRUE(IsNoise(t));
  // If most entries belong to long phases, the timeline is not noise, whatever the other entries
  // are.
  for (EntryIndex at = 0; at < t.size(); at += 1000) {
    t.Mark(at, at + 400, Phase::kForward, kStackForward);
    t.Mark(at + 400, at + 1000, Phase::kBackward, kStackBackward);
  }
  EXPECT_FALSE(IsNoise(t));
  EXPECT_FALSE(IsNoise(Empty(5000)));
}

}  // namespace
}  // namespace vramscope::inference
