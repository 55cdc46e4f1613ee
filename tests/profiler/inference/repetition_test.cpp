#include "profiler/inference/repetition.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace vramscope::inference {
namespace {

// Returns a step of 24 layers: 24 times the same 40 allocations, 24 times 60 others, and a rest.
std::vector<uint64_t> Step() {
  std::mt19937 random(7);
  const auto some = [&](int n) {
    std::vector<uint64_t> v;
    for (int i = 0; i < n; ++i) v.push_back(512 * (random() % 50));
    return v;
  };
  std::vector<uint64_t> step = some(30);
  for (const int requests : {40, 60}) {
    const std::vector<uint64_t> layer = some(requests);
    for (int l = 0; l < 24; ++l) step.insert(step.end(), layer.begin(), layer.end());
  }
  const std::vector<uint64_t> tail = some(200);
  step.insert(step.end(), tail.begin(), tail.end());
  return step;
}

TEST(Period, IsLengthOfAStepNotOfALayer) {
  const std::vector<uint64_t> step = Step();
  std::vector<uint64_t> values;
  for (int i = 0; i < 4; ++i) values.insert(values.end(), step.begin(), step.end());
  EXPECT_EQ(Period(values), step.size());
}

TEST(Period, IgnoresIrregularFirstAndTruncatedLastStep) {
  const std::vector<uint64_t> step = Step();
  std::vector<uint64_t> values(step.begin() + 500, step.end());
  values.insert(values.begin() + 100, 12345);
  values.insert(values.end(), 300, 54321);
  for (int i = 0; i < 3; ++i) values.insert(values.end(), step.begin(), step.end());
  values.insert(values.end(), step.begin(), step.begin() + 700);
  EXPECT_EQ(Period(values), step.size());
}

TEST(Period, IsZeroIfNothingRepeats) {
  std::mt19937 random(7);
  std::vector<uint64_t> values;
  for (int i = 0; i < 20000; ++i) values.push_back(random() % 1000);
  EXPECT_EQ(Period(values), 0u);
  EXPECT_EQ(Period({}), 0u);
  EXPECT_EQ(Period(Step()), 0u) << "one step alone has no period";
}

}  // namespace
}  // namespace vramscope::inference
