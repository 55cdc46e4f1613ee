// Random histories against the plain reference: every address, every block, every segment.
#include <gtest/gtest.h>

#include <random>

#include "naive_allocator.h"

namespace vramscope::allocator {
namespace {

struct Released : SegmentObserver {
  void OnSegmentAlloc(const Segment& s) override {
    EXPECT_EQ(s.address % (2 << 20), 0u);
    reserved += s.bytes;
  }
  void OnSegmentFree(const Segment& s) override {
    addresses.push_back(s.address);
    reserved -= s.bytes;
  }
  void OnOutOfMemory(uint64_t, uint64_t) override { ++out_of_memory; }
  std::vector<uint64_t> addresses;
  uint64_t reserved = 0, out_of_memory = 0;
};

// Everything that must hold of any state, and that it is the reference's.
void CheckState(const CachingAllocator& a, const NaiveAllocator& naive) {
  uint64_t allocated = 0, requested = 0, reserved = 0, end = 0;
  auto expected = naive.blocks().begin();
  for (const CachingAllocator::SegmentState& s : a.Snapshot()) {
    ASSERT_GE(s.segment.address, end) << "segments overlap";
    end = s.segment.address + s.segment.bytes;
    reserved += s.segment.bytes;
    uint64_t at = s.segment.address;
    bool previous_free = false;
    for (const CachingAllocator::BlockState& b : s.blocks) {
      ASSERT_EQ(b.block.address, at) << "blocks must tile their segment";
      at += b.block.bytes_rounded;
      ASSERT_FALSE(previous_free && !b.live) << "two free neighbours were not merged";
      previous_free = !b.live;
      if (b.live) {
        allocated += b.block.bytes_rounded;
        requested += b.block.bytes_requested;
        ASSERT_LE(b.block.bytes_requested, b.block.bytes_rounded);
      }
      ASSERT_NE(expected, naive.blocks().end());
      ASSERT_EQ(expected->first, b.block.address);
      ASSERT_EQ(expected->second.bytes, b.block.bytes_rounded);
      ASSERT_EQ(expected->second.live, b.live);
      ASSERT_EQ(expected->second.stream, b.block.stream);
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

struct Case {
  uint64_t seed;
  int events;
  size_t live;            // about how many live blocks
  uint64_t device_bytes;  // 0: no limit
  uint32_t streams;
};

class CachingAllocatorProperty : public ::testing::TestWithParam<Case> {};

TEST_P(CachingAllocatorProperty, FollowsTheReference) {
  const Case p = GetParam();
  std::mt19937_64 random(p.seed);
  const Settings settings{.device_memory_bytes = p.device_bytes};
  Released log;
  CachingAllocator a(settings, &log);
  NaiveAllocator naive(settings);
  std::vector<uint64_t> live;
  uint64_t failures = 0;
  const auto size = [&random]() -> uint64_t {
    switch (random() % 8) {
      case 0:
        return 1 + random() % (64 << 20);
      case 1:
      case 2:
        return 1 + random() % (8 << 20);
      case 3:
        return uint64_t{512} << (random() % 16);  // the few sizes that training repeats
      default:
        return 1 + random() % (256 << 10);
    }
  };
  for (int i = 0; i < p.events; ++i) {
    const uint64_t dice = random() % 1000;
    if (dice == 0 && i % 7 == 0) {
      a.EmptyCache();
      naive.Release();
    } else if (dice < 5) {
      ASSERT_FALSE(a.Free(random()).ok());
    } else if (live.size() < p.live / 2 || (live.size() < p.live * 2 && dice % 2 == 0)) {
      const uint64_t bytes = size();
      const auto stream = static_cast<uint32_t>(random() % p.streams) * 7;
      const absl::StatusOr<Block> got = a.Malloc(bytes, stream);
      const auto expected = naive.Malloc(bytes, stream);
      ASSERT_EQ(got.ok(), expected.has_value()) << got.status();
      if (!got.ok()) {
        ++failures;
        continue;
      }
      ASSERT_EQ(got->address, expected->first);
      ASSERT_EQ(got->bytes_rounded, expected->second);
      live.push_back(got->address);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(a.Free(live.back()).ok());
      ASSERT_TRUE(naive.Free(live.back()));
      live.pop_back();
    }
    ASSERT_EQ(a.stats().reserved, log.reserved);
    ASSERT_GE(a.stats().reserved, a.stats().allocated);
    if (i % (p.events / 50) == 0) {
      CheckState(a, naive);
      if (HasFatalFailure()) FAIL() << "at event " << i;
    }
  }
  EXPECT_EQ(log.out_of_memory, failures);
  if (p.device_bytes != 0) {
    EXPECT_GT(failures, 0u) << "the case is to meet the limit";
  }
  CheckState(a, naive);
  for (uint64_t address : live) {
    ASSERT_TRUE(a.Free(address).ok());
    ASSERT_TRUE(naive.Free(address));
  }
  EXPECT_EQ(a.stats().allocated, 0u);
  EXPECT_EQ(a.stats().requested, 0u);
  a.EmptyCache();
  naive.Release();
  EXPECT_EQ(a.stats().reserved, 0u);
  EXPECT_TRUE(a.Snapshot().empty());
  EXPECT_EQ(log.addresses, naive.released()) << "segments go back in the same order";
}

INSTANTIATE_TEST_SUITE_P(Random, CachingAllocatorProperty,
                         ::testing::Values(Case{1, 1'000'000, 300, 0, 1},
                                           Case{2, 500'000, 3000, 0, 3},
                                           Case{3, 500'000, 60, uint64_t{1} << 28, 2},
                                           Case{4, 200'000, 10, uint64_t{1} << 26, 4},
                                           Case{5, 300'000, 20'000, 0, 1}));

TEST(CachingAllocatorDeterminism, EqualHistoriesGiveEqualStates) {
  CachingAllocator a({}, nullptr), b({}, nullptr);
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t bytes = 1 + random() % (4 << 20);
    const absl::StatusOr<Block> x = a.Malloc(bytes, 0), y = b.Malloc(bytes, 0);
    ASSERT_EQ(x->address, y->address);
    if (random() % 2) {
      ASSERT_TRUE(a.Free(x->address).ok());
      ASSERT_TRUE(b.Free(x->address).ok());
    }
  }
}

}  // namespace
}  // namespace vramscope::allocator
