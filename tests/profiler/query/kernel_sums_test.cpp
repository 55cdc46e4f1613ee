#include "profiler/query/kernel_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/ui/timeline/synthetic_trace.h"

namespace vramscope::query {
namespace {

class KernelSumsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const trace::Trace> trace_ = vramscope::testing::MakeSyntheticTrace(
      {.layers = 3, .steps = 2, .activities = {.streams = 2}});
  ActivityIndex index_{trace_};
};

// Compares with a simple computation, which adds up the activities that have the same key text.
TEST_F(KernelSumsTest, SumsAreRightForEveryKey) {
  const auto& a = trace_->activities;
  for (const KernelsBy by : kKernelsBy) {
    std::map<std::string, std::pair<uint64_t, int64_t>> wanted;
    for (uint32_t row = 0; row < a.size(); ++row) {
      if (!IsDeviceWork(a.kind[row])) continue;
      std::string key = ActivityName(*trace_, row);
      if (by == KernelsBy::kOp) key = OpOf(index_, row);
      if (by == KernelsBy::kModule) key = ModuleOf(index_, row);
      if (by == KernelsBy::kPhase) key = PhaseOf(index_, row);
      if (by == KernelsBy::kStep)
        key = StepOf(index_, row) < 0 ? "" : std::to_string(StepOf(index_, row));
      if (by == KernelsBy::kStream) key = "stream " + std::to_string(a.stream[row]);
      if (by == KernelsBy::kKind) key = trace::Name(a.kind[row]);
      wanted[key].first += 1;
      wanted[key].second += a.end_ns[row] - a.begin_ns[row];
    }
    const KernelSums sums = SumKernels(index_, by);
    ASSERT_EQ(sums.sums.size(), wanted.size()) << Name(by);
    int64_t all = 0, before = INT64_MAX;
    for (const KernelSum& sum : sums.sums) {
      EXPECT_EQ(sum.count, wanted[sum.name].first) << Name(by) << " " << sum.name;
      EXPECT_EQ(sum.takes_ns, wanted[sum.name].second) << Name(by) << " " << sum.name;
      EXPECT_LE(sum.takes_ns, before) << "sorted by time in descending order";
      before = sum.takes_ns;
      all += sum.takes_ns;
    }
    EXPECT_EQ(all, sums.takes_ns);
    for (uint32_t row = 0; row < a.size(); ++row)
      EXPECT_EQ(sums.sum_of[row] != kNoRow, IsDeviceWork(a.kind[row]));
    EXPECT_EQ(ParseKernelsBy(Name(by)), by);
  }
  EXPECT_FALSE(ParseKernelsBy("colour"));
}

TEST_F(KernelSumsTest, SumsOnlyTheRangeAndTheFilter) {
  const KernelSums all = SumKernels(index_, KernelsBy::kName);
  const int64_t middle = (trace_->begin_ns() + trace_->end_ns()) / 2;
  const KernelSums first = SumKernels(index_, KernelsBy::kName, trace_->begin_ns(), middle);
  const KernelSums second = SumKernels(index_, KernelsBy::kName, middle, INT64_MAX);
  EXPECT_GT(first.count, 0u);
  EXPECT_EQ(first.count + second.count, all.count);
  EXPECT_EQ(first.takes_ns + second.takes_ns, all.takes_ns);
  const auto filter = ParseFilter("phase = backward");
  ASSERT_TRUE(filter.ok());
  const KernelSums backward = SumKernels(index_, KernelsBy::kPhase, 0, 0, *filter);
  ASSERT_EQ(backward.sums.size(), 1u);
  const KernelSums phases = SumKernels(index_, KernelsBy::kPhase);
  const auto same = std::ranges::find(phases.sums, std::string("backward"), &KernelSum::name);
  ASSERT_NE(same, phases.sums.end());
  EXPECT_EQ(backward.sums[0].name, "backward");
  EXPECT_EQ(same->takes_ns, backward.takes_ns);
  EXPECT_LT(same->takes_ns, phases.takes_ns);
  EXPECT_EQ(backward.share(backward.sums[0]), 1);
}

}  // namespace
}  // namespace vramscope::query
