// Phases as ranges.
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
  t.rule.assign(entries, kSaid);
  return t;
}

// A step of two thousand entries whose phases are clear: short ones among long ones stay.
TEST(Timeline, ShortPhasesStayWhereOthersAreLong) {
  Timeline t = Empty(20'000);
  for (uint32_t step = 0; step < 10; ++step) {
    const EntryIndex at = step * 2000;
    t.Mark(at, at + 2, Phase::kData, kStackData);
    for (uint32_t layer = 0; layer < 10; ++layer) {
      t.Mark(at + 2 + layer * 80, at + 80 + layer * 80, Phase::kForward, kStackForward);
      t.Mark(at + 80 + layer * 80, at + 82 + layer * 80, Phase::kLoss, kStackLoss);
    }
    t.Mark(at + 802, at + 1900, Phase::kBackward, kStackBackward);
    t.Mark(at + 1900, at + 2000, Phase::kOptimizer, kStackOptimizer);
    t.steps.push_back({at, at + 2000, step, kOrderStep});
  }
  EXPECT_EQ(PhaseRanges(t).size(), 10u * (1 + 20 + 2));
}

// Stacks without any order: most of a stretch counts, what is annotated stands, steps cut.
TEST(Timeline, PhasesOfNoiseAreFew) {
  constexpr EntryIndex kStep = 5000;
  std::mt19937 random(5);
  Timeline t = Empty(4 * kStep);
  for (EntryIndex i = 0; i < t.size(); ++i) {
    const bool backward = i % kStep >= kStep / 2;
    const bool other = random() % 4 == 0;
    if (backward != other) {
      t.Mark(i, i + 1, Phase::kBackward, kStackBackward);
    } else {
      t.Mark(i, i + 1, Phase::kForward, kStackForward);
    }
  }
  t.Mark(100, 103, Phase::kEval, kAnnotationPhase);
  for (uint32_t step = 0; step < 4; ++step) {
    t.steps.push_back({step * kStep, (step + 1) * kStep, step, kAnnotationStep});
  }
  const auto ranges = PhaseRanges(t);
  ASSERT_EQ(ranges.size(), 4u * 2 + 2);  // forward, backward; once an annotation in between
  EXPECT_EQ(ranges[1].phase, Phase::kEval);
  EXPECT_EQ(ranges[1].begin, 100u);
  EXPECT_EQ(ranges[1].end, 103u);
  EXPECT_EQ(ranges[3].phase, Phase::kBackward);
  EXPECT_NEAR(ranges[3].begin, kStep / 2, 256);
  EXPECT_EQ(ranges[3].end, kStep);
}

}  // namespace
}  // namespace vramscope::inference
