// Tests HeldRows, which keeps a process's data until the process uses a GPU.
#include "cupti/held_rows.h"

#include <gtest/gtest.h>

namespace vramscope::cupti {
namespace {

using trace::Activity;
using trace::ActivityKind;

std::vector<Activity> Calls(size_t count) {
  return std::vector<Activity>(count, Activity{.kind = ActivityKind::kRuntimeCall});
}

TEST(HeldRows, KeepFirstKernelAfterManyCalls) {
  HeldRows held;
  held.Add(Calls(HeldRows::kMost));
  std::vector<Activity> first = Calls(10);
  first.push_back({.kind = ActivityKind::kKernel});
  const std::vector<Activity> all = held.Take(first);
  EXPECT_EQ(all.size(), HeldRows::kMost + 11);
  EXPECT_EQ(all.back().kind, ActivityKind::kKernel);
  EXPECT_EQ(held.left_out(), 0u);
}

TEST(HeldRows, CountDroppedRows) {
  HeldRows held;
  held.Add(Calls(HeldRows::kMost));
  held.Add(Calls(3));
  held.Add(Calls(HeldRows::kMost + 2));
  const std::vector<Activity> first(1, Activity{.kind = ActivityKind::kKernel});
  const size_t kept = held.Take(first).size() - 1;
  EXPECT_LE(kept, HeldRows::kMost);
  EXPECT_EQ(kept + held.left_out(), 2 * HeldRows::kMost + 5);
  EXPECT_TRUE(held.Take({}).empty());
}

TEST(HeldRows, DropCallsBeforeCounters) {
  HeldRows held;
  held.Add(std::vector<Activity>(7, Activity{.kind = ActivityKind::kCounter}));
  held.Add(Calls(HeldRows::kMost - 7));
  held.Add(Calls(1));
  EXPECT_EQ(held.left_out(), HeldRows::kMost - 7);
  const std::vector<Activity> all = held.Take({});
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all.front().kind, ActivityKind::kCounter);
  EXPECT_EQ(all.back().kind, ActivityKind::kRuntimeCall);
}

TEST(HeldRows, LimitCounters) {
  HeldRows held;
  for (int i = 0; i < 3; ++i)
    held.Add(std::vector<Activity>(HeldRows::kMost, Activity{.kind = ActivityKind::kCounter}));
  EXPECT_EQ(held.left_out(), 2 * HeldRows::kMost);
  EXPECT_EQ(held.Take({}).size(), HeldRows::kMost);
}

}  // namespace
}  // namespace vramscope::cupti
