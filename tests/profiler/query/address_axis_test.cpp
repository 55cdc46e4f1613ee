#include "profiler/query/address_axis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "profiler/analysis/analysis.h"
#include "tests/profiler/analysis/random_trace.h"

namespace vramscope::query {
namespace {

using analysis::MakeRandomTrace;

enum class Memory { kSegments, kExpandable, kNoSegments };
analysis::RandomTraceOptions Options(Memory memory, uint64_t seed) {
  return {.seed = seed,
          .steps = 5,
          .expandable = memory == Memory::kExpandable,
          .segments = memory != Memory::kNoSegments};
}

class AddressAxisTest : public ::testing::TestWithParam<Memory> {};

TEST_P(AddressAxisTest, LiveBlocksNeverOverlap) {
  for (uint64_t seed = 1; seed < 4; ++seed) {
    const auto t = MakeRandomTrace(Options(GetParam(), seed));
    const AddressAxis axis(t);
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

INSTANTIATE_TEST_SUITE_P(All, AddressAxisTest,
                         ::testing::Values(Memory::kSegments, Memory::kExpandable,
                                           Memory::kNoSegments));

TEST(AddressAxis, IsCompactAndKeepsDistancesWithinASegment) {
  const auto t = MakeRandomTrace({.seed = 8, .steps = 8});
  const AddressAxis axis(t);
  const analysis::MemoryCurves curves = analysis::ComputeCurves(*t);
  const uint64_t reserved = *std::max_element(curves.reserved.begin(), curves.reserved.end());
  EXPECT_GE(axis.size(), reserved);
  EXPECT_LE(axis.size(), 2 * reserved) << "ranges of freed segments are not reused";
  ASSERT_EQ(axis.strips().size(), t->segments.size());  // in order of their segments
  for (uint32_t id = 0; id < t->allocations.size(); ++id) {
    const trace::SegmentId segment = t->allocations.segment[id];
    ASSERT_TRUE(segment.valid());
    const Strip& strip = axis.strips()[segment.value];
    ASSERT_EQ(axis.OffsetOf({id}) - strip.offset, t->allocations.address[id] - strip.address);
    ASSERT_EQ(axis.AddressAt(axis.OffsetOf({id}), t->allocations.begin_ns[id]).has_value(), true);
  }
}

// An expandable segment takes up space only for mapped parts, and only while they are mapped.
TEST(AddressAxis, ExpandableSegmentsTakeOnlyMappedBytes) {
  const auto t = MakeRandomTrace(Options(Memory::kExpandable, 8));
  const AddressAxis axis(t);
  const analysis::MemoryCurves curves = analysis::ComputeCurves(*t);
  const uint64_t reserved = *std::max_element(curves.reserved.begin(), curves.reserved.end());
  ASSERT_GT(reserved, 0u);
  EXPECT_GE(axis.size(), reserved);
  EXPECT_LE(axis.size(), 2 * reserved);
  // At any time, the strips must add up to the reserved bytes, and contain each live block once.
  const trace::AllocationTable& a = t->allocations;
  for (int64_t time = t->begin_ns(); time < t->end_ns(); time += 1 + t->end_ns() / 50) {
    const trace::EventIndex event = analysis::EventAtTime(*t, time);
    uint64_t sum = 0;
    for (const Strip& s : axis.strips())
      if (s.begin_ns <= time && time < s.end_ns) sum += s.bytes;
    const analysis::LiveSet live = analysis::LiveAt(*t, event);
    ASSERT_EQ(sum, live.reserved) << time;
    for (const analysis::LiveAllocation& l : live.allocations) {
      const uint64_t offset = axis.OffsetOf(l.id);
      ASSERT_EQ(axis.AddressAt(offset, time), a.address[l.id.value]);
      ASSERT_EQ(axis.AddressAt(offset + a.bytes_rounded[l.id.value] - 1, time),
                a.address[l.id.value] + a.bytes_rounded[l.id.value] - 1);
    }
  }
}

// Ranges without memory take up no space. A block at an unmapped address gets its own space.
TEST(AddressAxis, OmitsUnmappedRangesOfExpandableSegments) {
  constexpr uint64_t kMiB = uint64_t{1} << 20, kBase = uint64_t{1} << 40;
  trace::TraceBuilder b;
  std::vector<trace::Event> events;
  const auto add = [&](trace::EventKind kind, uint64_t id, uint64_t address, uint64_t bytes) {
    trace::Event e;
    e.kind = kind;
    e.id = id;
    e.address = address;
    e.bytes = e.bytes_rounded = bytes;
    e.detail = kind == trace::EventKind::kSegmentAlloc;
    e.time_ns = static_cast<int64_t>(events.size());
    events.push_back(e);
  };
  add(trace::EventKind::kSegmentAlloc, 0, kBase, 100 * kMiB);
  add(trace::EventKind::kSegmentMap, 0, kBase, 2 * kMiB);
  add(trace::EventKind::kSegmentMap, 0, kBase + 90 * kMiB, 4 * kMiB);
  add(trace::EventKind::kAlloc, 0, kBase + 91 * kMiB, kMiB);
  add(trace::EventKind::kAlloc, 1, kBase + 50 * kMiB, kMiB);
  add(trace::EventKind::kSegmentUnmap, 0, kBase + 92 * kMiB, kMiB);
  ASSERT_TRUE(b.AddEvents(events).ok());
  const auto t = b.Finish(true, "");
  const AddressAxis axis(t);
  EXPECT_EQ(axis.size(), 7 * kMiB);
  EXPECT_EQ(axis.OffsetOf({0}), 3 * kMiB);
  EXPECT_EQ(axis.OffsetOf({1}), 6 * kMiB);
  EXPECT_EQ(axis.AddressAt(3 * kMiB, 4), kBase + 91 * kMiB);
  ASSERT_EQ(axis.strips().size(), 4u);
  EXPECT_EQ(axis.strips()[1].end_ns, 5);
  EXPECT_EQ(axis.strips()[2].bytes, 2 * kMiB);
  EXPECT_EQ(axis.strips()[3].bytes, kMiB);
  EXPECT_EQ(axis.strips()[3].offset, 5 * kMiB);
}

TEST(AddressAxis, KeepsItsTraceAlive) {
  auto t = analysis::MakeRandomTrace({.seed = 3, .expandable = true});
  std::vector<uint64_t> expected;
  auto before = std::make_unique<AddressAxis>(t);
  for (uint32_t id = 0; id < t->allocations.size(); ++id)
    expected.push_back(before->OffsetOf({id}));
  before.reset();
  const AddressAxis axis(std::move(t));
  for (uint32_t id = 0; id < expected.size(); ++id) ASSERT_EQ(axis.OffsetOf({id}), expected[id]);
}

TEST(AddressAxis, IsEmptyForEmptyTrace) {
  trace::TraceBuilder b;
  const auto t = b.Finish(true, "");
  const AddressAxis axis(t);
  EXPECT_EQ(axis.size(), 0u);
  EXPECT_FALSE(axis.AddressAt(0, 0).has_value());
}

}  // namespace
}  // namespace vramscope::query
