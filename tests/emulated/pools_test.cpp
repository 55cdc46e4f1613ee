#include "emulated/core/pools.h"

#include <gtest/gtest.h>

namespace vramscope::emulated {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class PoolsTest : public testing::Test {
 protected:
  static std::vector<Gpu> Gpus() {
    Gpu gpu;
    gpu.memory_bytes = 512 * kMiB;
    gpu.context_bytes = 128 * kMiB;
    return {gpu};
  }
  uint64_t Get(PoolAttribute attribute) {
    uint64_t value = 0;
    EXPECT_EQ(pools_.Get(pools_.Default(0), attribute, &value), Result::kSuccess);
    return value;
  }
  void* Take(uint64_t bytes) {
    void* at = nullptr;
    EXPECT_EQ(pools_.Allocate(pools_.Default(0), bytes, &at), Result::kSuccess);
    return at;
  }

  std::vector<Gpu> gpus_ = Gpus();
  Memory memory_{gpus_, Placement::kDescending};
  Pools pools_{&memory_, 1};
};

TEST_F(PoolsTest, ReleasesFreeChunksOnSynchronize) {
  void *a = Take(10 * kMiB), *b = Take(10 * kMiB);
  EXPECT_EQ(Get(PoolAttribute::kReservedNow), 32 * kMiB);
  EXPECT_EQ(memory_.used(0), 32 * kMiB);
  void* c = Take(40 * kMiB);
  EXPECT_EQ(Get(PoolAttribute::kReservedNow), 96 * kMiB);
  EXPECT_EQ(Get(PoolAttribute::kUsedNow), 60 * kMiB);
  EXPECT_TRUE(pools_.Free(a));
  EXPECT_FALSE(pools_.Free(a));
  EXPECT_TRUE(pools_.Free(c));
  pools_.Synchronized(0);
  EXPECT_EQ(Get(PoolAttribute::kReservedNow), 32 * kMiB);  // b is in this chunk
  EXPECT_EQ(Get(PoolAttribute::kReservedMost), 96 * kMiB);
  EXPECT_TRUE(pools_.Free(b));
  pools_.Set(pools_.Default(0), PoolAttribute::kReleaseThreshold, ~uint64_t{0});
  pools_.Synchronized(0);
  EXPECT_EQ(Get(PoolAttribute::kReservedNow), 32 * kMiB);
  EXPECT_EQ(pools_.Trim(pools_.Default(0), 0), Result::kSuccess);
  EXPECT_EQ(memory_.used(0), 0u);
}

TEST_F(PoolsTest, MergesFreedNeighbours) {
  void *a = Take(16 * kMiB), *b = Take(16 * kMiB);
  EXPECT_TRUE(pools_.Free(b));
  EXPECT_TRUE(pools_.Free(a));
  EXPECT_EQ(Take(32 * kMiB), a);
  EXPECT_EQ(Get(PoolAttribute::kReservedNow), 32 * kMiB);
}

TEST_F(PoolsTest, ReleasesFreeChunksBeforeOutOfMemory) {
  void* first = Take(200 * kMiB);
  EXPECT_TRUE(pools_.Free(first));
  void* at = Take(300 * kMiB);  // fits only after the first chunk is released
  EXPECT_NE(at, nullptr);
  EXPECT_EQ(pools_.Allocate(pools_.Default(0), 200 * kMiB, &at), Result::kOutOfMemory);
  EXPECT_EQ(pools_.Allocate(pools_.Default(0), ~uint64_t{0}, &at), Result::kOutOfMemory);
  EXPECT_EQ(pools_.Allocate(nullptr, 1, &at), Result::kInvalidValue);
}

TEST_F(PoolsTest, DestroyReleasesProgramsPool) {
  void* pool = nullptr;
  ASSERT_EQ(pools_.Create(0, &pool), Result::kSuccess);
  EXPECT_EQ(pools_.SetCurrent(0, pool), Result::kSuccess);
  void* at = nullptr;
  EXPECT_EQ(pools_.Allocate(pools_.Current(0), kMiB, &at), Result::kSuccess);
  EXPECT_EQ(pools_.Destroy(pool), Result::kSuccess);
  EXPECT_EQ(pools_.Current(0), pools_.Default(0));
  EXPECT_EQ(memory_.used(0), 0u);
  EXPECT_EQ(pools_.Destroy(pools_.Default(0)), Result::kInvalidValue);
}

}  // namespace
}  // namespace vramscope::emulated
