#include "profiler/allocator/caching_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
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
  void OnSegmentMap(const Segment&, uint64_t address, uint64_t bytes) override {
    maps.emplace_back(address, bytes);
  }
  void OnSegmentUnmap(const Segment&, uint64_t address, uint64_t bytes) override {
    unmaps.emplace_back(address, bytes);
  }
  std::vector<Segment> allocs, frees;
  std::vector<std::pair<uint64_t, uint64_t>> maps, unmaps;
  std::vector<std::pair<uint64_t, uint64_t>> out_of_memory;
};

Block MustMalloc(CachingAllocator& a, uint64_t bytes, uint32_t stream = 0, uint32_t mempool = 0) {
  absl::StatusOr<Block> b = a.Malloc(bytes, stream, mempool);
  EXPECT_TRUE(b.ok()) << b.status();
  return b.value_or(Block{});
}

TEST(CachingAllocator, RoundsSizesTo512Bytes) {
  EXPECT_EQ(CachingAllocator::RoundSize(1), 512);
  EXPECT_EQ(CachingAllocator::RoundSize(512), 512);
  EXPECT_EQ(CachingAllocator::RoundSize(513), 1024);
  EXPECT_EQ(CachingAllocator::RoundSize(kMiB + 1), kMiB + 512);
}

TEST(CachingAllocator, ChoosesSegmentSizeByAllocationSize) {
  EXPECT_EQ(CachingAllocator::SegmentSize(512), 2 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(kMiB), 2 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(kMiB + 512), 20 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(10 * kMiB - 512), 20 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(10 * kMiB), 10 * kMiB);
  EXPECT_EQ(CachingAllocator::SegmentSize(10 * kMiB + 512), 12 * kMiB);
}

TEST(CachingAllocator, AllocatesFromTheFrontOfASplitBlock) {
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

TEST(CachingAllocator, SplitsLargeBlocksOnlyIfTheRestExceedsOneMiB) {
  CachingAllocator a({}, nullptr);
  // The segment has 12 MiB. The remainder of exactly 1 MiB is not split off.
  const Block whole = MustMalloc(a, 11 * kMiB);
  EXPECT_EQ(whole.bytes_rounded, 12 * kMiB);
  EXPECT_EQ(a.stats().allocated, 12 * kMiB);
  EXPECT_EQ(a.stats().requested, 11 * kMiB);
  // If the remainder is 512 bytes larger, it is split off.
  EXPECT_EQ(MustMalloc(a, 11 * kMiB - 512).bytes_rounded, 11 * kMiB - 512);
}

TEST(CachingAllocator, PrefersSmallestBlockThenLowestAddress) {
  CachingAllocator a({}, nullptr);
  std::vector<Block> blocks;
  for (uint64_t mib : {4, 2, 3, 2, 2}) {  // blocks between the holes keep them apart
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

TEST(CachingAllocator, RetriesAfterReleasingLargeThenSmallSegments) {
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

TEST(CachingAllocator, OutOfMemoryReportsRequestedAndFreeBytes) {
  Log log;
  CachingAllocator a({.device_memory_bytes = 64 * kMiB}, &log);
  MustMalloc(a, 40 * kMiB);
  const absl::StatusOr<Block> b = a.Malloc(30 * kMiB, 0);
  EXPECT_EQ(b.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(b.status().message()), HasSubstr("a request of 31457280 bytes"));
  EXPECT_THAT(std::string(b.status().message()), HasSubstr("25165824 of 67108864"));
  ASSERT_EQ(log.out_of_memory.size(), 1);
  EXPECT_EQ(log.out_of_memory[0], std::pair(30 * kMiB, 24 * kMiB));
  EXPECT_EQ(a.stats().out_of_memory, 1);
  EXPECT_EQ(a.stats().reserved, 40 * kMiB);
  EXPECT_EQ(MustMalloc(a, 24 * kMiB).bytes_rounded, 24 * kMiB);  // the allocator still works
}

TEST(CachingAllocator, GrantsOverTheLimitAndReportsEachCrossingOnce) {
  Log log;
  CachingAllocator a({.device_memory_bytes = 64 * kMiB, .grant_over_limit = true}, &log);
  MustMalloc(a, 60 * kMiB);
  const Block first = MustMalloc(a, 100 * kMiB);
  EXPECT_EQ(first.bytes_rounded, 100 * kMiB);
  const Block second = MustMalloc(a, 10 * kMiB);
  EXPECT_EQ(second.bytes_rounded, 10 * kMiB);
  EXPECT_EQ(a.stats().reserved, 170 * kMiB);
  ASSERT_EQ(log.out_of_memory.size(), 1);
  EXPECT_EQ(log.out_of_memory[0].second, 4 * kMiB);
  // An allocation within the limit succeeds. After it, the next one exceeds the limit again.
  ASSERT_TRUE(a.Free(first.address).ok());
  ASSERT_TRUE(a.Free(second.address).ok());
  a.EmptyCache();
  MustMalloc(a, 100);
  MustMalloc(a, 50 * kMiB);
  EXPECT_EQ(log.out_of_memory.size(), 2);
  EXPECT_EQ(a.stats().out_of_memory, 2);
}

// Many streams have free memory that cannot be released. Only the first EmptyCache() examines it.
TEST(CachingAllocator, EmptyCacheSearchesOnlyPoolsWithNewFrees) {
  constexpr uint32_t kStreams = 500, kReleases = 400;
  CachingAllocator a({}, nullptr);
  std::vector<Block> freed;
  for (uint32_t stream = 0; stream < kStreams; ++stream) {
    MustMalloc(a, 4096, stream);
    freed.push_back(MustMalloc(a, 4096, stream));
  }
  for (const Block& block : freed) ASSERT_TRUE(a.Free(block.address).ok());
  a.EmptyCache();
  const uint64_t all = a.stats().pools_searched;
  EXPECT_GE(all, kStreams);
  for (uint32_t i = 0; i < kReleases; ++i) {
    ASSERT_TRUE(a.Free(MustMalloc(a, 512, i).address).ok());
    a.EmptyCache();
  }
  EXPECT_LE(a.stats().pools_searched - all, uint64_t{2} * kReleases);
  EXPECT_EQ(a.stats().segment_frees, 0u);
}

TEST(CachingAllocator, RejectsInvalidSizesAndAddresses) {
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

Settings With(const char* conf, uint64_t device_memory_bytes = 0) {
  return {.device_memory_bytes = device_memory_bytes, .conf = run::ParseAllocConf(conf).value()};
}

TEST(CachingAllocator, RoundsToPowerOfTwoDivisions) {
  const run::AllocConf conf =
      run::ParseAllocConf("roundup_power2_divisions:[1:4,2:0,4:8,>:2]").value();
  const auto round = [&conf](uint64_t bytes) { return CachingAllocator::RoundSize(bytes, conf); };
  EXPECT_EQ(round(1200), 1536) << "sizes up to 512 times the divisions are only rounded to 512";
  EXPECT_EQ(round(2049), 2560);
  EXPECT_EQ(round(1200 * 1024), 1280 * 1024) << "PyTorch's own example: 1200 with 4 gives 1280";
  EXPECT_EQ(round(2 * kMiB + 1), 2 * kMiB + 512) << "no divisions between 2 and 4 MiB";
  EXPECT_EQ(round(4 * kMiB), 4 * kMiB);
  EXPECT_EQ(round(4 * kMiB + 1), 4 * kMiB + kMiB / 2);
  EXPECT_EQ(round(9 * kMiB), 12 * kMiB);
  EXPECT_EQ(round(13 * kMiB), 16 * kMiB);
  CachingAllocator a(With("roundup_power2_divisions:4"), nullptr);
  EXPECT_EQ(MustMalloc(a, 900 * 1024).bytes_rounded, kMiB)
      << "the rounded size is then allocated like a requested one";
}

TEST(CachingAllocator, ReusesOversizeBlocksWholeForSimilarSizesOnly) {
  Log log;
  CachingAllocator a(With("max_split_size_mb:32"), &log);
  const Block big = MustMalloc(a, 40 * kMiB);
  ASSERT_TRUE(a.Free(big.address).ok());
  EXPECT_NE(MustMalloc(a, 30 * kMiB).address, big.address)
      << "oversize blocks do not serve sizes below max_split_size";
  EXPECT_EQ(MustMalloc(a, 36 * kMiB).address, big.address);
  EXPECT_EQ(a.stats().allocated, 70 * kMiB) << "the whole block is used";
  const Block bigger = MustMalloc(a, 80 * kMiB);
  ASSERT_TRUE(a.Free(bigger.address).ok());
  EXPECT_NE(MustMalloc(a, 60 * kMiB).address, bigger.address)
      << "a remainder of 20 MiB is too large";
  EXPECT_EQ(MustMalloc(a, 62 * kMiB).address, bigger.address);
  EXPECT_EQ(log.allocs.size(), 4);
}

TEST(CachingAllocator, ReleasesJustEnoughOversizeBlocks) {
  Log log;
  CachingAllocator a(With("max_split_size_mb:20", 180 * kMiB), &log);
  const Block x = MustMalloc(a, 40 * kMiB), y = MustMalloc(a, 60 * kMiB);
  const Block z = MustMalloc(a, 80 * kMiB);
  for (const Block& b : {x, y, z}) ASSERT_TRUE(a.Free(b.address).ok());
  MustMalloc(a, 20 * kMiB);
  ASSERT_EQ(log.frees.size(), 1) << "the smallest that is large enough";
  EXPECT_EQ(log.frees[0].address, x.address);
  MustMalloc(a, 110 * kMiB);
  ASSERT_EQ(log.frees.size(), 3) << "none is large enough: the largest are released first";
  EXPECT_EQ(log.frees[1].address, z.address);
  EXPECT_EQ(log.frees[2].address, y.address);
  EXPECT_EQ(a.stats().retries, 0);
}

TEST(CachingAllocator, GarbageCollectsBlocksUnusedForLongerThanAverage) {
  Log log;
  CachingAllocator a(
      With("garbage_collection_threshold:0.5,per_process_memory_fraction:0.5", 800 * kMiB), &log);
  const Block old = MustMalloc(a, 100 * kMiB), used = MustMalloc(a, 50 * kMiB);
  for (const Block& b : {old, used}) ASSERT_TRUE(a.Free(b.address).ok());
  for (int i = 0; i < 5; ++i) {
    const Block again = MustMalloc(a, 50 * kMiB);
    EXPECT_EQ(again.address, used.address);
    ASSERT_TRUE(a.Free(again.address).ok());
  }
  MustMalloc(a, 150 * kMiB);
  EXPECT_TRUE(log.frees.empty()) << "150 MiB were reserved, the threshold is 200";
  MustMalloc(a, 101 * kMiB);
  ASSERT_EQ(log.frees.size(), 1);
  EXPECT_EQ(log.frees[0].address, old.address);
  EXPECT_EQ(a.stats().retries, 0);
}

TEST(CachingAllocator, LimitsMemoryToAFractionOfTheDevice) {
  CachingAllocator a(With("per_process_memory_fraction:0.5", 200 * kMiB), nullptr);
  MustMalloc(a, 90 * kMiB);
  EXPECT_EQ(a.Malloc(12 * kMiB, 0).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(a.Malloc(10 * kMiB, 0).ok());
}

TEST(CachingAllocator, ExpandableSegmentMapsAndUnmapsPages) {
  Log log;
  CachingAllocator a(With("expandable_segments:True", 800 * kMiB), &log);
  const Block x = MustMalloc(a, 30 * kMiB), y = MustMalloc(a, 30 * kMiB);
  ASSERT_EQ(log.allocs.size(), 1);
  EXPECT_TRUE(log.allocs[0].expandable);
  EXPECT_EQ(log.allocs[0].bytes, 900 * kMiB) << "addresses for 1 1/8 of the device";
  EXPECT_EQ(log.maps, (std::vector<std::pair<uint64_t, uint64_t>>{
                          {x.address, 40 * kMiB}, {x.address + 40 * kMiB, 20 * kMiB}}));
  EXPECT_EQ(y.address, x.address + 30 * kMiB);
  EXPECT_EQ(a.stats().reserved, 60 * kMiB);
  ASSERT_TRUE(a.Free(x.address).ok());
  a.EmptyCache();
  EXPECT_EQ(log.unmaps, (std::vector<std::pair<uint64_t, uint64_t>>{{x.address, 20 * kMiB}}))
      << "the page that the second block begins in stays";
  EXPECT_EQ(a.stats().reserved, 40 * kMiB);
  EXPECT_EQ(MustMalloc(a, 25 * kMiB).address, x.address) << "the lowest addresses are mapped again";
  EXPECT_EQ(a.stats().segment_allocs, 0);
  EXPECT_EQ(a.stats().segment_maps, 3);
}

TEST(CachingAllocator, FreeWaitsForOtherStreams) {
  CachingAllocator a({}, nullptr);
  const Block b = MustMalloc(a, 4096, 1);
  ASSERT_TRUE(a.RecordStream(b.address, 1).ok());
  ASSERT_TRUE(a.Free(b.address).ok());
  EXPECT_EQ(MustMalloc(a, 4096, 1).address, b.address)
      << "the free does not wait for the block's own stream";
  ASSERT_TRUE(a.RecordStream(b.address, 2).ok());
  ASSERT_TRUE(a.Free(b.address).ok());
  EXPECT_NE(MustMalloc(a, 4096, 1).address, b.address);
  EXPECT_EQ(a.Free(b.address).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(a.RecordStream(b.address, 2).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(a.CompleteFree(b.address).ok());
  EXPECT_EQ(MustMalloc(a, 4096, 1).address, b.address);
}

TEST(CachingAllocator, PrivatePoolKeepsMemoryUntilReleased) {
  Log log;
  CachingAllocator a({.device_memory_bytes = 64 * kMiB}, &log);
  const Block b = MustMalloc(a, 30 * kMiB, 0, 5);
  ASSERT_TRUE(a.Free(b.address).ok());
  EXPECT_NE(MustMalloc(a, 20 * kMiB).address, b.address);
  a.EmptyCache();
  EXPECT_TRUE(log.frees.empty());
  EXPECT_EQ(MustMalloc(a, 30 * kMiB, 0, 5).address, b.address);
  ASSERT_TRUE(a.Free(b.address).ok());
  a.ReleasePool(5);
  MustMalloc(a, 40 * kMiB);
  ASSERT_EQ(log.frees.size(), 1);
  EXPECT_EQ(log.frees[0].mempool, 5);
}

TEST(CachingAllocator, DriverChoosesAddressesAndMayRefuse) {
  struct FakeDriver : Driver {
    std::optional<uint64_t> Allocate(const Segment& segment) override {
      requested.push_back(segment.bytes);
      if (addresses.empty()) return std::nullopt;
      const uint64_t address = addresses.back();
      addresses.pop_back();
      return address;
    }
    bool Map(const Segment&, uint64_t, uint64_t) override { return false; }
    std::vector<uint64_t> addresses, requested;
  } driver;
  driver.addresses = {uint64_t{3} << 40, uint64_t{5} << 40};
  CachingAllocator a({.driver = &driver}, nullptr);
  EXPECT_EQ(MustMalloc(a, 100).address, uint64_t{5} << 40);
  EXPECT_EQ(MustMalloc(a, 2 * kMiB).address, uint64_t{3} << 40);
  EXPECT_EQ(a.Malloc(30 * kMiB, 0).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(driver.requested, (std::vector<uint64_t>{2 * kMiB, 20 * kMiB, 30 * kMiB, 30 * kMiB}))
      << "two attempts, with a release of the cache in between";
}

TEST(CachingAllocator, RestoreRejectsInconsistentStates) {
  using State = CachingAllocator::SnapshotSegment;
  const auto block = [](uint64_t address, uint64_t bytes, bool mapped = true) {
    return CachingAllocator::SnapshotBlock{.block = {.address = address, .bytes_rounded = bytes},
                                           .mapped = mapped};
  };
  const uint64_t at = 64 * kMiB;
  const Segment segment{.address = at, .bytes = 2 * kMiB};
  const auto code = [](std::vector<State> states) {
    return CachingAllocator({}, nullptr).Restore(states).code();
  };
  EXPECT_EQ(code({{segment, {block(at, 2 * kMiB)}}}), absl::StatusCode::kOk);
  for (const std::vector<State>& states : std::vector<std::vector<State>>{
           {{segment, {}}},
           {{segment, {block(at, kMiB)}}},
           {{segment, {block(at, kMiB), block(at, kMiB)}}},
           {{segment, {block(at, 3 * kMiB)}}},
           {{segment, {block(at, 0), block(at, 2 * kMiB)}}},
           {{segment, {block(at, 2 * kMiB, false)}}},
           {{segment, {block(at, 2 * kMiB)}}, {segment, {block(at, 2 * kMiB)}}},
           {{segment, {block(at, 2 * kMiB)}},
            {{.address = at + kMiB, .bytes = 2 * kMiB}, {block(at + kMiB, 2 * kMiB)}}},
           {{{.address = ~uint64_t{0} - kMiB, .bytes = 2 * kMiB}, {block(at, 2 * kMiB)}}}}) {
    EXPECT_EQ(code(states), absl::StatusCode::kInvalidArgument);
  }
  CachingAllocator used({}, nullptr);
  MustMalloc(used, 1);
  EXPECT_EQ(used.Restore({}).code(), absl::StatusCode::kFailedPrecondition);
}

// Releases the cache once for each of very many streams. A release must only examine memory that
// was freed since the previous release, not every pool of every stream. With 20,000 streams,
// this takes a few hundredths of a second instead of 12 s. The limit leaves room for slow
// computers.
TEST(CachingAllocator, EmptyCacheIsFastWithManyStreams) {
  constexpr uint32_t kStreams = 20'000;
  CachingAllocator a({}, nullptr);
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t stream = 1; stream <= kStreams; ++stream) {
    const Block kept = MustMalloc(a, 20 * kMiB, stream);
    const Block freed = MustMalloc(a, 20 * kMiB, stream);
    ASSERT_TRUE(a.Free(freed.address).ok());
    a.EmptyCache();
    ASSERT_EQ(a.stats().reserved, uint64_t{stream} * kept.bytes_rounded);
  }
  EXPECT_EQ(a.stats().segment_frees, kStreams);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
}

}  // namespace
}  // namespace vramscope::allocator
