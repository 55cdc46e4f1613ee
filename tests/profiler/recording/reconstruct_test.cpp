#include <gtest/gtest.h>

#include "profiler/recording/recording.h"
#include "tests/profiler/recording/hand_made.h"

namespace vramscope::recording {
namespace {

constexpr uint64_t kBase = 0x7f0000000000;

History Of(const Recording& r) {
  absl::StatusOr<History> h = Reconstruct(r);
  EXPECT_TRUE(h.ok()) << h.status();
  return h.ok() ? *std::move(h) : History();
}

// In the large pool, a free block is not split if up to 1 MiB of it would remain.
TEST(Reconstruct, SplitsRemaindersAboveOneMebibyte) {
  for (const uint64_t rest : {kMiB, kMiB + 512}) {
    Recording r;
    r.has_segments = true;
    const uint64_t requested = 20 * kMiB - rest;
    Add(r, Action::kSegmentAlloc, kBase, 20 * kMiB, 1);
    Add(r, Action::kAlloc, kBase, requested, 2);
    Add(r, Action::kFreeCompleted, kBase, requested, 3);
    r.segments = {LargeSegment(kBase, 20 * kMiB, {})};
    const History h = Of(r);
    ASSERT_EQ(h.allocations.size(), 1u);
    EXPECT_EQ(h.allocations.bytes[0], rest > kMiB ? requested : 20 * kMiB);
    EXPECT_TRUE(h.allocations.bytes_known[0]);
    EXPECT_TRUE(h.warnings.empty());
  }
}

TEST(Reconstruct, AllocatorSettingsDetermineBlockSizes) {
  Recording r;
  r.has_segments = true;
  r.alloc_conf = "max_split_size_mb:32,roundup_power2_divisions:4";
  // 33 MiB are rounded up to 40 MiB (the next quarter of 32 MiB). Blocks of 40 MiB are never split.
  Add(r, Action::kSegmentAlloc, kBase, 44 * kMiB, 1);
  Add(r, Action::kAlloc, kBase, 33 * kMiB, 2);
  Add(r, Action::kFreeCompleted, kBase, 33 * kMiB, 3);
  Add(r, Action::kAlloc, kBase, 5 * kMiB, 4);
  Add(r, Action::kFreeCompleted, kBase, 5 * kMiB, 5);
  r.segments = {LargeSegment(kBase, 44 * kMiB, {})};
  const History h = Of(r);
  ASSERT_EQ(h.allocations.size(), 2u);
  EXPECT_EQ(h.allocations.bytes[0], 44 * kMiB);
  EXPECT_EQ(h.allocations.bytes[1], 5 * kMiB);
}

TEST(Reconstruct, WarnsAboutUnreadableSettings) {
  Recording r;
  r.alloc_conf = "max_split_size_mb:many";
  const History h = Of(r);
  ASSERT_EQ(h.warnings.size(), 1u);
  EXPECT_NE(h.warnings[0].find("max_split_size_mb"), std::string::npos) << h.warnings[0];
}

// Infers the tail of a block that was allocated before the recording and is freed during it.
TEST(Reconstruct, InfersTailsOfOlderBlocksWherePossible) {
  const uint64_t block = 9 * kMiB, tail = kMiB / 2;
  for (const bool tail_is_adjacent : {true, false}) {
    for (const bool shown : {true, false}) {
      Recording r;
      r.has_segments = true;
      // The next block begins right after the tail, or there is a hole between the two.
      const uint64_t next = kBase + block + tail + (tail_is_adjacent ? 0 : 4 * kMiB);
      if (shown) Add(r, Action::kAlloc, kBase + block + tail, 2 * kMiB, 1);
      Add(r, Action::kFreeCompleted, kBase, block, 2);
      std::vector<BlockState> end = {Live(next, 3 * kMiB, 3 * kMiB)};
      if (shown && tail_is_adjacent) continue;  // there is no free memory after the tail
      if (shown) end.insert(end.begin(), Live(kBase + block + tail, 2 * kMiB, 2 * kMiB));
      r.segments = {LargeSegment(kBase, 20 * kMiB, end)};
      const History h = Of(r);
      ASSERT_EQ(h.older, 2u);
      EXPECT_EQ(h.allocations.address[0], kBase);
      EXPECT_EQ(h.allocations.bytes[0], tail_is_adjacent || shown ? block + tail : block);
      EXPECT_EQ(h.allocations.bytes_known[0], tail_is_adjacent || shown);
      ASSERT_EQ(h.start_segments.size(), 1u);
      EXPECT_EQ(h.start_segments[0].blocks[0].bytes, h.allocations.bytes[0]);
      EXPECT_TRUE(h.warnings.empty());
    }
  }
}

TEST(Reconstruct, FinalBlocksHaveTheSizeStatedByTheFile) {
  Recording r;
  r.has_segments = true;
  Add(r, Action::kAlloc, kBase, 3 * kMiB, 1);
  r.segments = {LargeSegment(kBase, 20 * kMiB, {Live(kBase, 5 * kMiB, 3 * kMiB)})};
  const History h = Of(r);
  ASSERT_EQ(h.allocations.size(), 1u);
  EXPECT_EQ(h.allocations.bytes[0], 5 * kMiB);
}

TEST(Reconstruct, BlockFreedWithoutAllocIsOlder) {
  Recording r;
  r.has_segments = true;
  Add(r, Action::kFreeRequested, kBase + 512, 100, 1);
  Add(r, Action::kFreeCompleted, kBase + 512, 100, 1);
  Add(r, Action::kSegmentFree, kBase, 2 * kMiB, 2);
  const History h = Of(r);
  ASSERT_EQ(h.older, 1u);
  EXPECT_EQ(h.allocations.requested[0], 100u);
  EXPECT_EQ(h.allocations.pool[0], trace::Pool::kSmall);
  ASSERT_EQ(h.start_segments.size(), 1u);
  ASSERT_EQ(h.start_segments[0].blocks.size(), 3u);
  EXPECT_EQ(h.start_segments[0].blocks[1].bytes, 512u);
  EXPECT_TRUE(h.warnings.empty());
}

TEST(Reconstruct, InfersFreesThatTheFileOmits) {
  // If kFreeCompleted is missing, the request counts as the free.
  Recording r;
  r.has_segments = true;
  Add(r, Action::kAlloc, kBase, 1000, 1);
  Add(r, Action::kFreeRequested, kBase, 1000, 2);
  Add(r, Action::kAlloc, kBase, 2000, 3);
  Add(r, Action::kFreeRequested, kBase, 2000, 4);
  History h = Of(r);
  EXPECT_EQ(h.allocations.free_completed, (std::vector<EntryIndex>{1, 3}));
  EXPECT_EQ(h.allocations.free_requested, (std::vector<EntryIndex>{1, 3}));
  // If both entries of a free are missing, the next alloc at the address implies the free.
  r = {};
  r.has_segments = true;
  Add(r, Action::kAlloc, kBase, 1000, 1);
  Add(r, Action::kAlloc, kBase, 2000, 2);
  r.segments = {{.address = kBase, .bytes = 2 * kMiB, .blocks = {Live(kBase, 2048, 2000)}}};
  h = Of(r);
  EXPECT_EQ(h.displaced, std::vector<uint32_t>{0});
  EXPECT_EQ(h.allocations.free_completed, (std::vector<EntryIndex>{1, kNoEntry}));
  EXPECT_FALSE(h.warnings.empty());
}

TEST(Reconstruct, DropsAndCountsContradictoryEntries) {
  Recording r;
  r.has_segments = true;
  Add(r, Action::kAlloc, kBase, 1000, 1);
  Add(r, Action::kFreeCompleted, kBase, 1000, 2);
  Add(r, Action::kFreeCompleted, kBase, 1000, 3);  // the alloc between the two frees is missing
  Add(r, Action::kSegmentAlloc, kBase + 8 * kMiB, 2 * kMiB, 4);  // does not exist at the end
  Add(r, Action::kAlloc, UINT64_MAX - 10, 1000, 5);
  r.segments = {{.address = kBase, .bytes = 2 * kMiB}};
  const History h = Of(r);
  EXPECT_EQ(h.left_out, (std::vector<EntryIndex>{1, 3, 4}));
  EXPECT_EQ(h.allocations.size(), 1u);
  EXPECT_EQ(h.warnings.size(), 3u);
}

TEST(Reconstruct, WithoutSegmentsBlocksHaveRequestedSizes) {
  Recording r;  // a recording in Kineto's form
  Add(r, Action::kAlloc, 0x1000, 3 * kMiB, 1);
  Add(r, Action::kAlloc, 0x1000 + 4 * kMiB, 512, 2);
  Add(r, Action::kFreeCompleted, 0x1000, 3 * kMiB, 3);
  const History h = Of(r);
  EXPECT_EQ(h.allocations.bytes, (std::vector<uint64_t>{3 * kMiB, 512}));
  EXPECT_EQ(h.allocations.pool[0], trace::Pool::kLarge);
  EXPECT_TRUE(h.start_segments.empty());
  EXPECT_TRUE(h.warnings.empty());
}

// Adjacent ranges of one stream and pool belong to one segment. A range of another stream does not.
TEST(Reconstruct, ExpandableSegmentSpansAllMappedRanges) {
  Recording r;
  r.has_segments = true;
  r.streams = {0, 7};
  Add(r, Action::kSegmentMap, kBase + 2 * kMiB, 2 * kMiB, 1);
  Add(r, Action::kSegmentUnmap, kBase + 8 * kMiB, 2 * kMiB, 2);
  const auto range = [](uint64_t address, uint64_t bytes, uint32_t stream) {
    return SegmentState{.address = address,
                        .bytes = bytes,
                        .stream = stream,
                        .expandable = true,
                        .blocks = {{.address = address, .bytes = bytes}}};
  };
  r.segments = {range(kBase, 4 * kMiB, 0), range(kBase + 64 * kMiB, 2 * kMiB, 1)};
  const History h = Of(r);
  EXPECT_TRUE(h.warnings.empty());
  ASSERT_EQ(h.start_segments.size(), 2u);
  EXPECT_EQ(h.start_segments[0].address, kBase);
  EXPECT_EQ(h.start_segments[0].bytes, 10 * kMiB);
  ASSERT_EQ(h.start_segments[0].blocks.size(), 2u);  // the part that was mapped first
  EXPECT_EQ(h.start_segments[0].blocks[0].bytes, 2 * kMiB);
  EXPECT_EQ(h.start_segments[0].blocks[1].address, kBase + 8 * kMiB);
  EXPECT_EQ(h.start_segments[1].bytes, 2 * kMiB);
}

// The C++ pickler writes addresses as signed numbers.
TEST(Reconstruct, AcceptsAddressesAboveTheSignedRange) {
  Recording r;
  r.has_segments = true;
  const auto base = static_cast<uint64_t>(-0x7f0000000000);
  Add(r, Action::kSegmentAlloc, base, 20 * kMiB, 1);
  Add(r, Action::kAlloc, base, 3 * kMiB, 2);
  r.segments = {LargeSegment(base, 20 * kMiB, {Live(base, 3 * kMiB, 3 * kMiB)})};
  const History h = Of(r);
  EXPECT_EQ(h.allocations.size(), 1u);
  EXPECT_TRUE(h.warnings.empty());
}

TEST(Reconstruct, RejectsColumnsOfDifferentLengths) {
  Recording r;
  Add(r, Action::kAlloc, kBase, 512, 1);
  r.entries.stack.clear();
  EXPECT_EQ(Reconstruct(r).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vramscope::recording
