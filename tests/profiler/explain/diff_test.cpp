#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/explain/explain.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using ::testing::HasSubstr;
using Change = TraceDiff::Change;

const TraceDiff::Site* Find(const TraceDiff& diff, const std::string& part) {
  for (const TraceDiff::Site& s : diff.sites) {
    if (s.name.find(part) != std::string::npos) return &s;
  }
  return nullptr;
}

std::shared_ptr<const trace::Trace> Program(const std::string& folder, uint32_t shift, bool b) {
  TraceMaker m;
  const auto at = [&](const std::string& function, uint32_t line) {
    return m.Stack(
        {{"at::_ops::mm::call()", "", 0}, {function, folder + "/src/model.py", line + shift}});
  };
  m.BeginStep(0);
  m.Alloc({.bytes = kMiB, .category = trace::Category::kActivation, .stack = at("same", 1)});
  m.Alloc({.bytes = (b ? 3 : 2) * kMiB, .stack = at("grown", 5)});
  m.Alloc({.bytes = 4 * kMiB, .stack = at(b ? "added" : "removed", 9)});
  m.EndStep();
  return m.Finish();
}

TEST(TraceDiff, StacksMatchWhereOnlyLinesAndFoldersDiffer) {
  const auto a = Program("/home/a", 0, false), b = Program("/data/b", 100, true);
  const auto diff = DiffTraces(*a, *b, std::nullopt);
  ASSERT_TRUE(diff.ok()) << diff.status();
  EXPECT_TRUE(diff->by_stack);
  ASSERT_EQ(diff->sites.size(), 4u);
  EXPECT_EQ(Find(*diff, "same")->change, Change::kSame);
  EXPECT_EQ(Find(*diff, "same")->category, trace::Category::kActivation);
  EXPECT_EQ(Find(*diff, "grown")->change, Change::kGrown);
  EXPECT_EQ(Find(*diff, "grown")->delta(), static_cast<int64_t>(kMiB));
  EXPECT_EQ(Find(*diff, "added")->change, Change::kAdded);
  EXPECT_EQ(Find(*diff, "removed")->change, Change::kRemoved);
  EXPECT_EQ(Find(*diff, "removed")->a_bytes, 4 * kMiB);
  ASSERT_EQ(diff->steps.size(), 1u);
  EXPECT_EQ(diff->steps[0].b_peak - diff->steps[0].a_peak, kMiB);
  EXPECT_THAT(diff->headline, HasSubstr("1.00 MiB higher"));
  // Greatest change first.
  EXPECT_EQ(std::abs(diff->sites[0].delta()), static_cast<int64_t>(4 * kMiB));
}

TEST(TraceDiff, WithoutStacksSitesAreModuleAndOp) {
  const auto a = Program("/home/a", 0, false);
  TraceMaker m;
  m.BeginStep(0);
  m.Alloc({.bytes = kMiB, .op = "aten::mm", .module = "layer"});
  m.EndStep();
  const auto diff = DiffTraces(*a, *m.Finish(), 0);
  ASSERT_TRUE(diff.ok());
  EXPECT_FALSE(diff->by_stack);
  EXPECT_EQ(Find(*diff, "layer > aten::mm")->change, Change::kAdded);
}

TEST(TraceDiff, EqualTracesHaveNoDifference) {
  const auto a = Program("/home/a", 0, false);
  const auto diff = DiffTraces(*a, *a, 0);
  ASSERT_TRUE(diff.ok());
  for (const TraceDiff::Site& s : diff->sites) EXPECT_EQ(s.change, Change::kSame);
  EXPECT_THAT(diff->headline, HasSubstr("the same"));
  EXPECT_TRUE(absl::IsNotFound(DiffTraces(*a, *a, 7).status()));
  const auto empty = TraceMaker().Finish();
  EXPECT_TRUE(DiffTraces(*empty, *empty, std::nullopt).ok());
}

}  // namespace
}  // namespace vramscope::explain
