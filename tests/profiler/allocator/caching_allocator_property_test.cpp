// Makes random allocations and frees with all kinds of settings, and compares every address, block,
// segment and page, and the order of releases, with NaiveAllocator.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "naive_allocator.h"

namespace vramscope::allocator {
namespace {

constexpr uint64_t kMiB = 1 << 20;

struct Log : SegmentObserver {
  void OnSegmentAlloc(const Segment& s) override {
    EXPECT_EQ(s.address % (2 * kMiB), 0u);
    events.push_back({DriverEvent::kAlloc, s.address, s.bytes});
    if (!s.expandable) reserved += s.bytes;
  }
  void OnSegmentFree(const Segment& s) override {
    events.push_back({DriverEvent::kFree, s.address, s.bytes});
    if (!s.expandable) reserved -= s.bytes;
  }
  void OnSegmentMap(const Segment& s, uint64_t address, uint64_t bytes) override {
    EXPECT_TRUE(s.expandable && address >= s.address && address + bytes <= s.address + s.bytes);
    events.push_back({DriverEvent::kMap, address, bytes});
    reserved += bytes;
  }
  void OnSegmentUnmap(const Segment&, uint64_t address, uint64_t bytes) override {
    events.push_back({DriverEvent::kUnmap, address, bytes});
    reserved -= bytes;
  }
  void OnOutOfMemory(uint64_t bytes, uint64_t) override {
    events.push_back({DriverEvent::kOutOfMemory, 0, bytes});
    ++out_of_memory;
  }
  void OnFreeCompleted(const Block& b) override {
    events.push_back({DriverEvent::kCompleted, b.address, b.bytes_rounded});
    completed.push_back(b.address);
  }
  std::vector<DriverEvent> events;
  std::vector<uint64_t> completed;
  uint64_t reserved = 0, out_of_memory = 0;
};

// Checks invariants of the allocator's state, and compares the state with that of `naive`.
void CheckState(const CachingAllocator& a, const NaiveAllocator& naive) {
  uint64_t allocated = 0, requested = 0, reserved = 0, end = 0;
  auto expected = naive.blocks().begin();
  for (const CachingAllocator::SnapshotSegment& s : a.Snapshot()) {
    ASSERT_GE(s.segment.address, end) << "segments overlap";
    end = s.segment.address + s.segment.bytes;
    uint64_t at = s.segment.address;
    int before = -1;
    for (const CachingAllocator::SnapshotBlock& b : s.blocks) {
      ASSERT_EQ(b.block.address, at) << "blocks must tile their segment";
      at += b.block.bytes_rounded;
      ASSERT_TRUE(b.mapped || s.segment.expandable);
      const int kind = b.live ? -1 : b.mapped;
      ASSERT_FALSE(kind != -1 && kind == before) << "two free neighbours were not merged";
      before = kind;
      if (b.mapped) reserved += b.block.bytes_rounded;
      if (b.live) {
        allocated += b.block.bytes_rounded;
        requested += b.block.bytes_requested;
        ASSERT_LE(b.block.bytes_requested, b.block.bytes_rounded);
      }
      ASSERT_NE(expected, naive.blocks().end());
      const NaiveAllocator::BlockInfo& info = expected->second;
      ASSERT_EQ(expected->first, b.block.address);
      ASSERT_EQ(info.bytes, b.block.bytes_rounded);
      ASSERT_EQ(info.state, !b.mapped   ? NaiveAllocator::kUnmapped
                            : b.pending ? NaiveAllocator::kPending
                            : b.live    ? NaiveAllocator::kLive
                                        : NaiveAllocator::kFree);
      ASSERT_EQ(info.requested, b.block.bytes_requested);
      ASSERT_EQ(info.stream, b.block.stream);
      ASSERT_EQ(info.mempool, s.segment.mempool);
      ++expected;
    }
    ASSERT_EQ(at, end);
  }
  ASSERT_EQ(expected, naive.blocks().end());
  ASSERT_EQ(a.stats().allocated, allocated);
  ASSERT_EQ(a.stats().requested, requested);
  ASSERT_EQ(a.stats().reserved, reserved);
  ASSERT_EQ(naive.reserved(), reserved);
}

std::string FirstDifference(const std::vector<DriverEvent>& a, const std::vector<DriverEvent>& b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto text = [](auto it, const auto& of) {
    return it == of.end() ? std::string("nothing")
                          : std::to_string(it->kind) + " " + std::to_string(it->address) + " " +
                                std::to_string(it->bytes);
  };
  return "driver event " + std::to_string(x - a.begin()) + ": model " + text(x, a) +
         ", reference " + text(y, b);
}

struct Case {
  const char* name;
  const char* conf;
  int events;
  size_t live;            // approximate number of live blocks
  uint64_t device_bytes;  // 0: no limit
  uint32_t streams;
  int deferred = 0;  // percentage of blocks that another stream uses
  uint32_t mempools = 1;
  bool grant = false;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

uint64_t RandomSize(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0:
      return 1 + random() % (64 << 20);
    case 1:
    case 2:
      return 1 + random() % (8 << 20);
    // Returns one of a few sizes, because training repeats sizes.
    case 3:
      return uint64_t{512} << (random() % 16);
    default:
      return 1 + random() % (256 << 10);
  }
}

class CachingAllocatorProperty : public ::testing::TestWithParam<Case> {};

TEST_P(CachingAllocatorProperty, MatchesNaiveAllocator) {
  const Case p = GetParam();
  std::mt19937_64 random(std::hash<std::string>()(p.name));
  const Settings settings{.device_memory_bytes = p.device_bytes,
                          .grant_over_limit = p.grant,
                          .conf = run::ParseAllocConf(p.conf).value()};
  Log log;
  CachingAllocator a(settings, &log);
  NaiveAllocator naive(settings);
  std::vector<uint64_t> live, pending;
  const auto take = [&random](std::vector<uint64_t>& from) {
    std::swap(from[random() % from.size()], from.back());
    const uint64_t address = from.back();
    from.pop_back();
    return address;
  };
  // A release completes pending frees.
  const auto forget_completed = [&] {
    for (uint64_t address : std::exchange(log.completed, {})) std::erase(pending, address);
  };
  uint64_t failures = 0;
  for (int i = 0; i < p.events; ++i) {
    const uint64_t dice = random() % 1000;
    if (dice == 0 && i % 7 == 0) {
      a.EmptyCache();
      naive.Release();
    } else if (dice == 1 && p.mempools > 1) {
      const auto mempool = static_cast<uint32_t>(random() % p.mempools);
      a.ReleasePool(mempool);
      if (mempool != 0) naive.ReleasePool(mempool);
    } else if (dice < 5) {
      ASSERT_FALSE(a.Free(random()).ok());
    } else if (!pending.empty() && dice % 5 == 0) {
      const uint64_t address = take(pending);
      ASSERT_FALSE(a.Free(address).ok()) << "is pending";
      ASSERT_TRUE(a.CompleteFree(address).ok());
      ASSERT_TRUE(naive.CompleteFree(address));
    } else if (live.size() < p.live / 2 || (live.size() < p.live * 2 && dice % 2 == 0)) {
      const uint64_t bytes = RandomSize(random);
      const auto stream = static_cast<uint32_t>(random() % p.streams) * 7;
      const auto mempool = static_cast<uint32_t>(random() % p.mempools);
      const absl::StatusOr<Block> got = a.Malloc(bytes, stream, mempool);
      const auto expected = naive.Malloc(bytes, stream, mempool);
      ASSERT_EQ(got.ok(), expected.has_value()) << got.status();
      forget_completed();
      if (!got.ok()) {
        ++failures;
        continue;
      }
      ASSERT_EQ(got->address, expected->first);
      ASSERT_EQ(got->bytes_rounded, expected->second);
      live.push_back(got->address);
      if (random() % 100 < static_cast<uint64_t>(p.deferred)) {
        const auto user = static_cast<uint32_t>(random() % p.streams) * 7;
        ASSERT_TRUE(a.RecordStream(got->address, user).ok());
        naive.RecordStream(got->address, user);
      }
    } else if (!live.empty()) {
      const uint64_t address = take(live);
      if (p.deferred > 0 && random() % 4 == 0) {
        ASSERT_TRUE(a.RequestFree(address).ok());
        ASSERT_TRUE(naive.RequestFree(address));
      } else {
        ASSERT_TRUE(a.Free(address).ok());
        ASSERT_TRUE(naive.Free(address));
      }
      if (naive.blocks().count(address) &&
          naive.blocks().at(address).state == NaiveAllocator::kPending) {
        pending.push_back(address);
      }
    }
    forget_completed();
    ASSERT_EQ(a.stats().reserved, log.reserved);
    ASSERT_GE(a.stats().reserved, a.stats().allocated);
    ASSERT_EQ(log.events.size(), naive.log().size()) << "at event " << i;
    if (i % (p.events / 50) == 0) {
      CheckState(a, naive);
      if (HasFatalFailure()) FAIL() << "at event " << i;
    }
  }
  ASSERT_TRUE(log.events == naive.log()) << FirstDifference(log.events, naive.log());
  if (p.device_bytes != 0) {
    EXPECT_GT(log.out_of_memory, 0u) << "this case must reach the limit";
    EXPECT_GT(a.stats().retries, 0u);
  }
  if (p.device_bytes != 0 && !p.grant) {
    EXPECT_EQ(log.out_of_memory, failures);
  }
  CheckState(a, naive);
  for (uint64_t address : live) {
    ASSERT_TRUE(a.Free(address).ok());
    ASSERT_TRUE(naive.Free(address));
  }
  for (uint32_t m = 1; m < p.mempools; ++m) {
    a.ReleasePool(m);
    naive.ReleasePool(m);
  }
  a.EmptyCache();
  naive.Release();
  EXPECT_EQ(a.stats().allocated, 0u);
  EXPECT_EQ(a.stats().requested, 0u);
  EXPECT_EQ(a.stats().reserved, 0u);
  // Only expandable segments without mapped memory may be left: their addresses stay reserved.
  for (const CachingAllocator::SnapshotSegment& s : a.Snapshot()) {
    EXPECT_TRUE(s.segment.expandable && s.blocks.size() == 1 && !s.blocks[0].mapped);
  }
  EXPECT_TRUE(log.events == naive.log()) << FirstDifference(log.events, naive.log());
}

constexpr uint64_t kGiB = uint64_t{1} << 30;

INSTANTIATE_TEST_SUITE_P(
    Random, CachingAllocatorProperty,
    ::testing::Values(
        Case{"default", "", 600'000, 300, 0, 1}, Case{"streams", "", 300'000, 3000, 0, 3},
        Case{"limit", "", 300'000, 60, kGiB / 4, 2}, Case{"tiny", "", 150'000, 10, kGiB / 16, 4},
        Case{"many", "", 200'000, 20'000, 0, 1}, Case{"deferred", "", 200'000, 200, 0, 3, 40},
        Case{"deferred_limit", "", 200'000, 60, kGiB / 4, 3, 40},
        Case{"grant", "", 200'000, 100, kGiB / 4, 2, 20, 1, true},
        Case{"mempools", "", 200'000, 80, kGiB / 2, 2, 20, 3},
        Case{"split", "max_split_size_mb:32", 200'000, 200, 0, 2},
        Case{"split_limit", "max_split_size_mb:20,max_non_split_rounding_mb:24", 300'000, 60,
             kGiB / 4, 2},
        Case{"split_deferred", "max_split_size_mb:24", 200'000, 60, kGiB / 4, 3, 30},
        Case{"round", "roundup_power2_divisions:8", 200'000, 300, 0, 2},
        Case{"round_table", "roundup_power2_divisions:[1:16,2:4,8:0,32:2,>:1]", 200'000, 100,
             kGiB / 2, 2},
        Case{"large_segments", "large_segment_size_mb:48", 200'000, 200, kGiB, 2},
        Case{"fraction", "per_process_memory_fraction:0.7", 200'000, 60, kGiB / 2, 2},
        Case{"garbage", "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9", 300'000,
             60, kGiB / 2, 2},
        Case{"garbage_late", "garbage_collection_threshold:0.9,per_process_memory_fraction:0.5",
             200'000, 100, kGiB, 3, 20},
        Case{"expandable", "expandable_segments:True", 300'000, 300, 0, 1},
        Case{"expandable_limit", "expandable_segments:True", 300'000, 60, kGiB / 4, 3},
        Case{"expandable_tiny", "expandable_segments:True", 150'000, 12, kGiB / 16, 2, 30},
        Case{"expandable_pages", "expandable_segments:True,large_segment_size_mb:12", 200'000, 100,
             kGiB / 2, 2, 20},
        Case{"expandable_mempools", "expandable_segments:True", 200'000, 80, kGiB / 2, 2, 20, 3},
        Case{"expandable_grant", "expandable_segments:True", 200'000, 80, kGiB / 4, 2, 0, 1, true},
        Case{"all",
             "expandable_segments:True,max_split_size_mb:24,roundup_power2_divisions:4,"
             "garbage_collection_threshold:0.7,per_process_memory_fraction:0.8",
             200'000, 100, kGiB / 2, 3, 20, 2},
        Case{"all_but_expandable",
             "max_split_size_mb:24,roundup_power2_divisions:[4:8,>:2],large_segment_size_mb:24,"
             "garbage_collection_threshold:0.7,per_process_memory_fraction:0.8",
             300'000, 100, kGiB / 2, 3, 20, 2}),
    [](const ::testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

// Tests that allocators that are restored from the same state behave like each other and like the
// original allocator.
class CachingAllocatorRestore : public ::testing::TestWithParam<const char*> {};

TEST_P(CachingAllocatorRestore, RestoredCopiesBehaveLikeTheOriginal) {
  std::mt19937_64 random(7);
  Settings settings{.device_memory_bytes = kGiB / 2,
                    .conf = run::ParseAllocConf(GetParam()).value()};
  CachingAllocator first(settings, nullptr);
  std::vector<uint64_t> live;
  const auto step = [&](CachingAllocator& a, std::vector<uint64_t>& blocks) {
    if (blocks.size() < 40 || (blocks.size() < 160 && random() % 2)) {
      const uint64_t bytes = RandomSize(random);
      const absl::StatusOr<Block> b =
          a.Malloc(bytes, static_cast<uint32_t>(random() % 3), static_cast<uint32_t>(random() % 2));
      if (b.ok()) blocks.push_back(b->address);
    } else {
      const size_t i = random() % blocks.size();
      EXPECT_TRUE(random() % 8 != 0 ? a.Free(blocks[i]).ok() : a.RequestFree(blocks[i]).ok());
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(i));
    }
  };
  for (int i = 0; i < 20'000; ++i) step(first, live);
  // After EmptyCache(), addresses of new segments ascend from the last one in both allocators.
  first.EmptyCache();
  const auto state = first.Snapshot();
  settings.first_address = uint64_t{1} << 50;
  CachingAllocator at_end(settings, nullptr), second(settings, nullptr);
  ASSERT_TRUE(at_end.Restore(state).ok());
  ASSERT_TRUE(second.Restore(at_end.Snapshot()).ok());
  EXPECT_EQ(second.stats().reserved, first.stats().reserved);
  EXPECT_EQ(second.stats().allocated, first.stats().allocated);
  EXPECT_EQ(second.stats().requested, first.stats().requested);
  std::vector<uint64_t> other = live, original = live;
  for (int i = 0; i < 20'000; ++i) {
    const std::mt19937_64 same = random;
    step(first, original);
    random = same;
    step(at_end, live);
    random = same;
    step(second, other);
    ASSERT_EQ(live, other) << "at event " << i;
    ASSERT_EQ(at_end.stats().reserved, second.stats().reserved);
    // In the original, new segments have other addresses, so only sizes are compared with it.
    ASSERT_EQ(live.size(), original.size()) << "at event " << i;
    ASSERT_EQ(at_end.stats().reserved, first.stats().reserved) << "at event " << i;
    ASSERT_EQ(at_end.stats().allocated, first.stats().allocated) << "at event " << i;
    ASSERT_EQ(at_end.stats().requested, first.stats().requested) << "at event " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, CachingAllocatorRestore,
                         ::testing::Values("", "max_split_size_mb:24", "expandable_segments:True",
                                           "expandable_segments:True,large_segment_size_mb:12"));

}  // namespace
}  // namespace vramscope::allocator
