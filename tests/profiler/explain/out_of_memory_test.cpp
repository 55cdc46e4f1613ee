#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/explain/explain.h"
#include "tests/profiler/explain/trace_maker.h"

namespace vramscope::explain {
namespace {

using ::testing::HasSubstr;
using trace::Category;

const WayOut* Find(const OutOfMemory& o, const std::string& name) {
  for (const WayOut& w : o.ways) {
    if (w.name.find(name) != std::string::npos) return &w;
  }
  return nullptr;
}

TEST(OutOfMemory, HeadlineStatesThatNothingRanOut) {
  TraceMaker m;
  m.info.device.memory_bytes = 80 * kMiB;
  m.Segment(kBase, 20 * kMiB);
  const auto page = ExplainOutOfMemory(*m.Finish(), {});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->count, 0u);
  EXPECT_EQ(page->peak_reserved, 20 * kMiB);
  EXPECT_THAT(page->headline, HasSubstr("Nothing ran out"));
}

TEST(OutOfMemory, ReportsRequestedFreeAndLiveMemory) {
  TraceMaker m;
  m.Segment(kBase, 60 * kMiB);
  m.Alloc({.address = kBase, .bytes = 20 * kMiB, .category = Category::kActivation, .op = "mm"});
  const uint64_t gap = m.Alloc({.address = kBase + 20 * kMiB, .bytes = 18 * kMiB});
  m.Alloc({.address = kBase + 38 * kMiB,
           .bytes = 16 * kMiB,
           .category = Category::kOptimizerState,
           .op = "zeros_like",
           .module = "layer"});
  m.Free(gap);
  m.Add(
      {.kind = trace::EventKind::kOutOfMemory, .bytes = 22 * kMiB + 1, .bytes_rounded = 4 * kMiB});
  const auto page = ExplainOutOfMemory(*m.Finish(), {.replay = false});
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->events.size(), 1u);
  const OutOfMemory& o = page->events[0];
  EXPECT_EQ(o.asked, 22 * kMiB + 1);
  EXPECT_EQ(o.needed, 24 * kMiB);
  EXPECT_EQ(o.device_free, 4 * kMiB);
  EXPECT_EQ(o.allocated, 36 * kMiB);
  EXPECT_EQ(o.reserved, 60 * kMiB);
  EXPECT_EQ(o.holes, 24 * kMiB);
  EXPECT_EQ(o.largest_hole, 18 * kMiB);
  EXPECT_EQ(o.missing, 20 * kMiB);
  EXPECT_TRUE(o.fragmented) << "24 MiB in holes and 4 MiB on the device";
  EXPECT_EQ(o.by_category[static_cast<size_t>(Category::kOptimizerState)], 16 * kMiB);
  ASSERT_EQ(o.sites.size(), 2u);
  EXPECT_EQ(o.sites[1].name, "layer > zeros_like");
  EXPECT_THAT(o.headline, HasSubstr("is fragmented"));
  // Offloading the 16 MiB of optimizer state does not suffice, because 20 MiB are missing.
  const WayOut* cpu = Find(o, "on the CPU");
  ASSERT_NE(cpu, nullptr);
  EXPECT_FALSE(cpu->passes);
  EXPECT_FALSE(cpu->computed);
  EXPECT_THAT(cpu->how, HasSubstr("estimate"));
  EXPECT_EQ(Find(o, "LoRA")->bytes, 16 * kMiB) << "no parameter that would get an adapter";
  EXPECT_EQ(Find(o, "set_to_none"), nullptr);
}

TEST(OutOfMemory, CountsOnlyTheDeviceThatRanOut) {
  TraceMaker m;
  m.Segment(kBase, 60 * kMiB);
  m.Alloc({.address = kBase, .bytes = 60 * kMiB, .category = Category::kParameter, .op = "a"});
  const uint64_t other = kBase + 1024 * kMiB;
  m.Segment(other, 20 * kMiB, trace::Pool::kLarge, false, 1);
  m.Alloc({.address = other,
           .bytes = 12 * kMiB,
           .category = Category::kActivation,
           .op = "b",
           .device = 1});
  m.Add({.kind = trace::EventKind::kOutOfMemory,
         .device = 1,
         .bytes = 30 * kMiB,
         .bytes_rounded = 4 * kMiB});
  const auto t = m.Finish();
  const auto page = ExplainOutOfMemory(*trace::OfDevice(t, 1), {});
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->events.size(), 1u);
  const OutOfMemory& o = page->events[0];
  EXPECT_EQ(o.device, 1);
  EXPECT_EQ(o.allocated, 12 * kMiB);
  EXPECT_EQ(o.reserved, 20 * kMiB);
  EXPECT_EQ(o.by_category[static_cast<size_t>(Category::kParameter)], 0u);
  ASSERT_EQ(o.sites.size(), 1u);
  EXPECT_EQ(o.missing, 26 * kMiB);
  EXPECT_EQ(page->peak_reserved, 20 * kMiB);
  const auto first = ExplainOutOfMemory(*trace::OfDevice(t, 0), {});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->count, 0u);
  EXPECT_EQ(first->peak_reserved, 60 * kMiB);
}

TEST(OutOfMemory, IgnoresHolesOfOtherStreamsAndPrivatePools) {
  constexpr auto kLarge = trace::Pool::kLarge;
  TraceMaker m;
  m.Segment(kBase, 20 * kMiB);
  m.Alloc({.address = kBase, .bytes = 17 * kMiB});
  m.Segment(kBase + 100 * kMiB, 30 * kMiB, kLarge, false, 0, 7);
  m.Alloc({.address = kBase + 100 * kMiB, .bytes = 12 * kMiB});
  m.Segment(kBase + 200 * kMiB, 40 * kMiB, kLarge, false, 0, 0, 1);
  m.Alloc({.address = kBase + 200 * kMiB, .bytes = 10 * kMiB});
  m.Segment(kBase + 300 * kMiB, 24 * kMiB, kLarge, false, 0, 0, 1);  // free, in the private pool
  m.Segment(kBase + 400 * kMiB, 22 * kMiB, kLarge, false, 0, 7);     // cached on the other stream
  m.Add({.kind = trace::EventKind::kOutOfMemory, .bytes = 30 * kMiB, .bytes_rounded = kMiB});
  const auto t = m.Finish();
  const auto page = ExplainOutOfMemory(*t, {.replay = false});
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->events.size(), 1u);
  const OutOfMemory& o = page->events[0];
  EXPECT_EQ(o.holes, 3 * kMiB);
  EXPECT_EQ(o.largest_hole, 3 * kMiB);
  EXPECT_EQ(o.cached, 22 * kMiB);
  EXPECT_EQ(o.missing, 7 * kMiB);
  EXPECT_FALSE(o.fragmented) << "3 MiB in holes, 22 cached and 1 on the device";
  const auto reclaim = ComputeReclaim(*t, {.at = m.last()});
  ASSERT_TRUE(reclaim.ok()) << reclaim.status();
  for (const Remedy& r : reclaim->remedies) {
    if (!r.name.starts_with("empty_cache")) continue;
    EXPECT_EQ(r.given_back, static_cast<int64_t>(22 * kMiB)) << r.error;
  }
}

// A plan records each allocation that exceeds the device's limit, and continues. Here, the first
// would fit once the cache is released, but the second would not.
TEST(OutOfMemory, ReportsTheAllocationThatFailsInAPlan) {
  TraceMaker m;
  m.info.backend = trace::Backend::kPlan;
  m.info.device.memory_bytes = 100 * kMiB;
  uint64_t at = kBase;
  const auto alloc = [&](uint64_t bytes) {
    m.Segment(at, bytes);
    const uint64_t id = m.Alloc({.address = at, .bytes = bytes});
    at += bytes;
    return id;
  };
  alloc(40 * kMiB);
  m.Free(alloc(50 * kMiB));
  m.Add({.kind = trace::EventKind::kOutOfMemory, .bytes = 60 * kMiB, .bytes_rounded = 10 * kMiB});
  alloc(60 * kMiB);  // 40 + 60 MiB: fits after the 50 MiB are released
  alloc(30 * kMiB);
  const auto trace = m.Finish();
  const auto page = ExplainOutOfMemory(*trace, {});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->events.size(), 1u);
  const OutOfMemory& o = page->events[0];
  EXPECT_EQ(o.asked, 30 * kMiB);
  EXPECT_EQ(o.allocated, 100 * kMiB);
  EXPECT_EQ(o.reserved, 100 * kMiB);
  EXPECT_EQ(o.device_free, 0u);
  EXPECT_EQ(o.missing, 30 * kMiB);
  EXPECT_THAT(page->headline, HasSubstr("The request needs 30.00 MiB more than"));
}

}  // namespace
}  // namespace vramscope::explain
