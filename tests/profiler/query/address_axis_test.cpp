#include "profiler/query/address_axis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "profiler/analysis/analysis.h"
#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::query {
namespace {

using analysis::MakeRandomTrace;

class AddressAxisTest : public ::testing::TestWithParam<bool> {};

TEST_P(AddressAxisTest, LiveBlocksNeverOverlap) {
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const auto t = MakeRandomTrace({.seed = seed, .steps = 5, .segments = GetParam()});
    const AddressAxis axis(*t);
    const trace::AllocationTable& a = t->allocations;
    std::map<uint64_t, uint64_t> live;  // offset -> end
    for (uint32_t i = 0; i < t->events.size(); ++i) {
      const auto id = static_cast<uint32_t>(t->events.id[i]);
      if (t->events.kind[i] == trace::EventKind::kAlloc) {
        const uint64_t begin = axis.OffsetOf({id}), end = begin + a.bytes_rounded[id];
        ASSERT_LE(end, axis.size());
        const auto next = live.lower_bound(begin);
        ASSERT_TRUE(next == live.end() || next->first >= end);
        ASSERT_TRUE(next == live.begin() || std::prev(next)->second <= begin);
        live[begin] = end;
      }
      if (t->events.kind[i] == trace::EventKind::kFreeCompleted) live.erase(axis.OffsetOf({id}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSegments, AddressAxisTest, ::testing::Bool());

TEST(AddressAxis, IsCompactAndKeepsDistancesWithinASegment) {
  const auto t = MakeRandomTrace({.seed = 8, .steps = 8});
  const AddressAxis axis(*t);
  const analysis::MemoryCurves curves = analysis::ComputeCurves(*t);
  const uint64_t reserved = *std::max_element(curves.reserved.begin(), curves.reserved.end());
  EXPECT_GE(axis.size(), reserved);
  EXPECT_LE(axis.size(), 2 * reserved) << "ranges of freed segments are used again";
  ASSERT_EQ(axis.strips().size(), t->segments.size());
  for (uint32_t id = 0; id < t->allocations.size(); ++id) {
    const trace::SegmentId segment = t->allocations.segment[id];
    ASSERT_TRUE(segment.valid());
    const Strip& strip = axis.strips()[segment.value];
    ASSERT_EQ(axis.OffsetOf({id}) - strip.offset, t->allocations.address[id] - strip.address);
    ASSERT_EQ(axis.AddressAt(axis.OffsetOf({id}), t->allocations.begin_ns[id]).has_value(), true);
  }
}

TEST(AddressAxis, EmptyTrace) {
  trace::TraceBuilder b;
  const auto t = b.Finish(true, "");
  const AddressAxis axis(*t);
  EXPECT_EQ(axis.size(), 0u);
  EXPECT_FALSE(axis.AddressAt(0, 0).has_value());
}

}  // namespace
}  // namespace vramscope::query
