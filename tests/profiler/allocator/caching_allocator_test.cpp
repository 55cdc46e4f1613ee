#include "profiler/allocator/caching_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace vramscope::allocator {
namespace {

using ::testing::HasSubstr;
using trace::Pool;

constexpr uint64_t kMiB = 1 << 20;

struct Log : SegmentObserver {
  void OnSegmentAlloc(const Segment& s) override { allocs.push_back(s); }
  void OnSegmentFree(const Segment& s) override { frees.push_back(s); }
  void OnOutOfMemory(uint64_t bytes, uint64_t device_free) override {
    out_of_memory.emplace_back(bytes, device_free);
  }
  std::vector<Segment> allocs, frees;
  std::vector<std::pair<uint64_t, uint64_t>> out_of_memory;
};

Block MustMalloc(CachingAllocator& a, uint64_t bytes, uint32_t stream = 0) {
  absl::StatusOr<Block> b = a.Malloc(bytes, stream);
  EXPECT_TRUE(b.ok()) << b.status();
  return b.value_or(Block{});
}

TEST(CachingAllocator, RoundsRequests) {
  EXPECT_EQ(CachingAllocator::RoundSize(1), 512);
  EXPECT_EQ(CachingAllocator::RoundSize(512), 512);
  EXPECT_EQ(CachingAllocator::RoundSize(513), 1024);
  EXPECT_EQ(CachingAllocator::RoundSize(kMiB + 1), kMiB + 512);
}

TEST(CachingAllocator, SegmentSizes) {
  EXPECT_EQ(CachingAllocator::SegmentSize(512), 2 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(kMiB), 2 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(kMiB + 512), 20 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(10 * kMiB - 512), 20 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(10 * kMiB), 10 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(10 * kMiB + 512), 12 * kMiB);
}

TEST(CachingAllocator, KeepsTheFrontOfASplitBlock) {
  Log log;
  CachingAllocator a({}, &log);
  const Block first = MustMalloc(a, 1000);
  EXPECT_EQ(first.bytes_rounded, 1024);
  EXPECT_EQ(first.pool, Pool::kSmall);
  ASSERT_EQ(log.allocs.size(), 1);
  EXPECT_EQ(log.allocs[0].bytes, 2 * kMiB);
  EXPECT_EQ(first.address, log.allocs[0].address);
  EXPECT_EQ(MustMalloc(a, 512).address, first.address + 1024);
  EXPECT_EQ(log.allocs.size(), 1);
}

TEST(CachingAllocator, LargeBlocksSplitOnlyAboveOneMiBRest) {
  CachingAllocator a({}, nullptr);
  // 12 MiB segment, rest of exactly 1 MiB: stays as a hidden tail of the block.
  const Block whole = MustMalloc(a, 11 * kMiB);
  EXPECT_EQ(whole.bytes_rounded, 12 * kMiB);
  EXPECT_EQ(a.stats().allocated, 12 * kMiB);
  EXPECT_EQ(a.stats().requested, 11 * kMiB);
  // One step more of rest: split.
  EXPECT_EQ(MustMalloc(a, 11 * kMiB - 512).bytes_rounded, 11 * kMiB - 512);
}

TEST(CachingAllocator, BestFitTakesTheSmallestThenTheLowestAddress) {
  CachingAllocator a({}, nullptr);
  std::vector<Block> blocks;
  for (uint64_t mib : {4, 2, 3, 2, 2}) {  // fences between them keep the holes apart
    blocks.push_back(MustMalloc(a, mib * kMiB));
    MustMalloc(a, kMiB + 512);
  }
  for (size_t i : {0, 1, 2, 4, 3}) ASSERT_TRUE(a.Free(blocks[i].address).ok());
  EXPECT_EQ(MustMalloc(a, 2 * kMiB).address, blocks[1].address);
  EXPECT_EQ(MustMalloc(a, 2 * kMiB).address, blocks[3].address);
  EXPECT_EQ(MustMalloc(a, 2 * kMiB).address, blocks[4].address);
  EXPECT_EQ(MustMalloc(a, 2 * kMiB).address, blocks[2].address);
}

TEST(CachingAllocator, StreamsDoNotShareBlocks) {
  CachingAllocator a({}, nullptr);
  const Block b = MustMalloc(a, 4096, 1);
  ASSERT_TRUE(a.Free(b.address).ok());
  EXPECT_NE(MustMalloc(a, 4096, 2).address, b.address);
  EXPECT_EQ(MustMalloc(a, 4096, 1).address, b.address);
  EXPECT_EQ(a.stats().segment_allocs, 2);
}

TEST(CachingAllocator, RetriesAfterReleasingTheCacheLargeFirst) {
  Log log;
  CachingAllocator a({.device_memory_bytes = 64 * kMiB}, &log);
  const Block small = MustMalloc(a, 100);
  const Block large = MustMalloc(a, 30 * kMiB);
  ASSERT_TRUE(a.Free(small.address).ok());
  ASSERT_TRUE(a.Free(large.address).ok());
  EXPECT_EQ(MustMalloc(a, 60 * kMiB).bytes_rounded, 60 * kMiB);
  ASSERT_EQ(log.frees.size(), 2);
  EXPECT_EQ(log.frees[0].pool, Pool::kLarge);
  EXPECT_EQ(log.frees[1].pool, Pool::kSmall);
  EXPECT_EQ(a.stats().retries, 1);
  EXPECT_EQ(a.stats().reserved, 60 * kMiB);
  EXPECT_TRUE(log.out_of_memory.empty());
}

TEST(CachingAllocator, OutOfMemorySaysWhatWasAskedAndFree) {
  Log log;
  CachingAllocator a({.device_memory_bytes = 64 * kMiB}, &log);
  MustMalloc(a, 40 * kMiB);
  const absl::StatusOr<Block> b = a.Malloc(30 * kMiB, 0);
  EXPECT_EQ(b.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(b.status().message()), HasSubstr("31457280 bytes asked"));
  EXPECT_THAT(std::string(b.status().message()), HasSubstr("25165824 of 67108864"));
  ASSERT_EQ(log.out_of_memory.size(), 1);
  EXPECT_EQ(log.out_of_memory[0], std::pair(30 * kMiB, 24 * kMiB));
  EXPECT_EQ(a.stats().out_of_memory, 1);
  EXPECT_EQ(a.stats().reserved, 40 * kMiB);
  EXPECT_EQ(MustMalloc(a, 24 * kMiB).bytes_rounded, 24 * kMiB);  // still works
}

TEST(CachingAllocator, GrantsOverTheLimitWhenToldTo) {
  Log log;
  CachingAllocator a({.device_memory_bytes = 64 * kMiB, .grant_over_limit = true}, &log);
  MustMalloc(a, 60 * kMiB);
  EXPECT_EQ(MustMalloc(a, 100 * kMiB).bytes_rounded, 100 * kMiB);
  EXPECT_EQ(MustMalloc(a, 10 * kMiB).bytes_rounded, 10 * kMiB);
  ASSERT_EQ(log.out_of_memory.size(), 2);
  EXPECT_EQ(log.out_of_memory[0].second, 4 * kMiB);
  EXPECT_EQ(log.out_of_memory[1].second, 0);  // already beyond
  EXPECT_EQ(a.stats().reserved, 170 * kMiB);
}

TEST(CachingAllocator, RefusesBadRequests) {
  CachingAllocator a({}, nullptr);
  for (uint64_t bytes : {uint64_t{0}, CachingAllocator::kMaxRequest + 1, ~uint64_t{0}}) {
    EXPECT_EQ(a.Malloc(bytes, 0).status().code(), absl::StatusCode::kInvalidArgument) << bytes;
  }
  const Block b = MustMalloc(a, 4096);
  EXPECT_EQ(a.Free(b.address + 512).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(a.Free(0).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(a.Free(b.address).ok());
  EXPECT_EQ(a.Free(b.address).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vramscope::allocator
