// Tests categories of blocks that stay allocated over steps. They are inferred only from the
// numbers of blocks and gradients of each size.
#include "profiler/inference/persistent_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/inference/rules.h"

namespace vramscope::inference {
namespace {

using trace::Category;

constexpr uint64_t kKiB = 1024;

uint64_t Bytes(const std::vector<Persistent>& kept, Category category) {
  uint64_t bytes = 0;
  for (const Persistent& k : kept) bytes += k.category == category ? k.bytes : 0;
  return bytes;
}

void Add(std::vector<Persistent>& kept, uint64_t bytes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    kept.push_back(
        {.allocation = static_cast<uint32_t>(kept.size()), .bytes = bytes, .older = true});
  }
}

// Batch normalization has a scalar num_batches_tracked in each layer. If the optimizer has no
// state, this must not be confused with the optimizer's step counters.
TEST(Persistent, BatchNormCountersAreNotOptimizerState) {
  std::vector<Persistent> kept;
  Add(kept, 36 * kKiB, 2);  // convolutions
  Add(kept, 4 * kKiB, 8);   // weight, bias, running mean and variance of two normalizations
  Add(kept, 8, 8);          // their counters, and those of other normalizations
  ClassifyPersistent({.gradients = {{36 * kKiB, 2}, {4 * kKiB, 4}}, .backward = Backward::kWhole},
                     kept);
  EXPECT_EQ(Bytes(kept, Category::kOptimizerState), 0u);
  for (const Persistent& k : kept) {
    if (k.bytes == 8) {
      EXPECT_EQ(k.category, Category::kBuffer);
    }
    if (k.bytes == 36 * kKiB) {
      EXPECT_EQ(k.category, Category::kParameter);
    }
  }
}

// If there is one scalar per parameter, and the optimizer keeps moments, these are step counters.
TEST(Persistent, StepCountersOfFusedOptimizerAreOptimizerState) {
  std::vector<Persistent> kept;
  Add(kept, 36 * kKiB, 6);
  Add(kept, 8, 2);
  ClassifyPersistent({.gradients = {{36 * kKiB, 2}}, .backward = Backward::kWhole}, kept);
  EXPECT_EQ(Bytes(kept, Category::kParameter), 72 * kKiB);
  EXPECT_EQ(Bytes(kept, Category::kOptimizerState), 144 * kKiB + 16);
}

// If the recording contains the first step of the optimizer, there is no older optimizer state.
TEST(Persistent, NoOlderBlockIsStateIfFirstStepIsRecorded) {
  for (const bool first : {false, true}) {
    std::vector<Persistent> kept;
    Add(kept, 64 * kKiB, 6);
    ClassifyPersistent(
        {.gradients = {{64 * kKiB, 2}}, .backward = Backward::kWhole, .first_states = first}, kept);
    EXPECT_EQ(Bytes(kept, Category::kOptimizerState), first ? 0 : 256 * kKiB);
  }
}

// The number of blocks of each size is a multiple of four. Either half of them are parameters and
// half are gradients that are kept, or a quarter each are parameters, gradients and two optimizer
// states. The number of gradients that one backward pass allocates tells these cases apart.
TEST(Persistent, DistinguishesUnfreedGradientsFromOptimizerState) {
  for (const uint32_t passing : {2u, 1u}) {
    std::vector<Persistent> kept;
    Add(kept, 64 * kKiB, 4);
    Add(kept, 16 * kKiB, 48);
    ClassifyPersistent({.passing = {{64 * kKiB, passing}, {16 * kKiB, 12 * passing}},
                        .backward = Backward::kWhole},
                       kept);
    const uint64_t parameters = passing * (64 + 12 * 16) * kKiB;
    EXPECT_EQ(Bytes(kept, Category::kParameter), parameters);
    EXPECT_EQ(Bytes(kept, Category::kGradient), parameters);
    EXPECT_EQ(Bytes(kept, Category::kOptimizerState), passing == 2 ? 0 : 2 * parameters);
  }
}

// A recording that ends in the middle of backward has only half of the gradients. If stacks
// identify the optimizer state, blocks without a gradient are parameters, too.
TEST(Persistent, BlocksWithoutGradientInCutBackwardAreParameters) {
  std::vector<Persistent> kept;
  Add(kept, 64 * kKiB, 16);
  for (Persistent& k : kept) k.category = Category::kOptimizerState;
  Add(kept, 64 * kKiB, 8);
  ClassifyPersistent({.gradients = {{64 * kKiB, 4}}, .backward = Backward::kCut}, kept);
  EXPECT_EQ(Bytes(kept, Category::kParameter), 512 * kKiB);
  EXPECT_EQ(Bytes(kept, Category::kBuffer), 0u);
}

}  // namespace
}  // namespace vramscope::inference
