// The data that are kept for a process before it uses a GPU.
#include "cupti/held_rows.h"

#include <gtest/gtest.h>

namespace vramscope::cupti {
namespace {

using trace::Activity;
using trace::ActivityKind;

std::vector<Activity> Calls(size_t count) {
  return std::vector<Activity>(count, Activity{.kind = ActivityKind::kRuntimeCall});
}

TEST(HeldRows, TheFirstKernelsAreThereHoweverManyCallsCameBefore) {
  HeldRows held;
  held.Add(Calls(HeldRows::kMost));
  std::vector<Activity> first = Calls(10);
  first.push_back({.kind = ActivityKind::kKernel});
  const std::vector<Activity> all = held.Take(first);
  EXPECT_EQ(all.size(), HeldRows::kMost + 11);
  EXPECT_EQ(all.back().kind, ActivityKind::kKernel);
  EXPECT_EQ(held.left_out(), 0u);
}

TEST(HeldRows, WhatGoesIsCounted) {
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

}  // namespace
}  // namespace vramscope::cupti
