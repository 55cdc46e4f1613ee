#include "trainer/backends/cuda/block_sizes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/allocator/rules.h"

namespace vramscope::trainer::cuda {
namespace {

// Reports the segments of the allocator model in the way in which libtorch_cuda's allocator would.
class Follower final : public allocator::SegmentObserver {
 public:
  explicit Follower(const run::AllocConf& conf) : sizes(conf) {}
  void OnSegmentAlloc(const allocator::Segment& s) override {
    if (!s.expandable) sizes.OnSegment(s.address, s.bytes, s.pool);
  }
  void OnSegmentFree(const allocator::Segment& s) override {
    if (!s.expandable) sizes.OnSegmentGone(s.address, s.bytes);
  }
  void OnSegmentMap(const allocator::Segment& s, uint64_t address, uint64_t bytes) override {
    sizes.OnSegment(address, bytes, s.pool, true);
  }
  void OnSegmentUnmap(const allocator::Segment&, uint64_t address, uint64_t bytes) override {
    sizes.OnSegmentGone(address, bytes);
  }
  void OnOutOfMemory(uint64_t, uint64_t) override {}
  BlockSizes sizes;
};

// Compares BlockSizes with the model of the caching allocator, whose block sizes are known.
void Compare(const std::string& settings, uint32_t seed) {
  const run::AllocConf conf = *run::ParseAllocConf(settings);
  Follower follower(conf);
  allocator::Settings options;
  options.device_memory_bytes = uint64_t{6} << 30;
  options.device_total_bytes = options.device_memory_bytes;
  options.conf = conf;
  allocator::CachingAllocator model(options, &follower);
  std::mt19937 random(seed);
  std::vector<uint64_t> live;
  int remainders = 0;
  for (int i = 0; i < 20000; ++i) {
    const bool free = !live.empty() && random() % 100 < (live.size() > 300 ? 70 : 45);
    if (free) {
      const size_t which = random() % live.size();
      follower.sizes.OnFree(live[which]);
      ASSERT_TRUE(model.Free(live[which]).ok());
      live[which] = live.back();
      live.pop_back();
      if (random() % 500 == 0) model.EmptyCache();
      continue;
    }
    const uint64_t bytes = 1 + random() % (uint64_t{1} << (4 + random() % 21));
    const auto block = model.Malloc(bytes, 0);
    if (!block.ok()) continue;
    const BlockSizes::Block computed = follower.sizes.OnAlloc(block->address, bytes);
    ASSERT_EQ(computed.bytes, block->bytes_rounded) << settings << " event " << i;
    ASSERT_EQ(computed.pool, block->pool) << settings << " event " << i;
    if (computed.bytes > allocator::RoundSize(bytes, conf)) ++remainders;
    live.push_back(block->address);
  }
  if (!conf.expandable_segments) {
    EXPECT_GT(remainders, 0) << "no remainder was left unsplit, so this test shows too little";
  }
}

TEST(BlockSizes, MatchAllocatorModelOnRandomAllocations) {
  for (const char* settings :
       {"", "expandable_segments:True", "max_split_size_mb:21", "roundup_power2_divisions:4"}) {
    for (uint32_t seed = 1; seed <= 5; ++seed) Compare(settings, seed);
  }
}

TEST(BlockSizes, UseRoundedSizeOutsideKnownSegments) {
  BlockSizes sizes({});
  EXPECT_EQ(sizes.OnAlloc(0x7000, 1000).bytes, 1024u);
  sizes.OnFree(0x7000);
  sizes.OnSegmentGone(0x7000, 1 << 20);
  EXPECT_EQ(sizes.OnAlloc(0x7000, 1).bytes, 512u);
}

}  // namespace
}  // namespace vramscope::trainer::cuda
