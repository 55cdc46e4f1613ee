// The formulas against sizes that were recorded on GPUs.
#include "trainer/backends/plan/scratch.h"

#include <gtest/gtest.h>

#include "trainer/backends/plan/roofline.h"

namespace vramscope::trainer::plan {
namespace {

constexpr Multiprocessors kHopper{.count = 132, .threads = 2048};

// Sum of n rows of `width` floats: the reduced dimension is the slow one.
Reduction RowSum(int64_t n, int64_t width) {
  return {.outputs = width, .inputs_per_output = n, .dimensions = 2, .reduces_fastest = false};
}

TEST(ReductionScratchTest, SumOverRowsNeedsEightBytesAValueFrom1024Rows) {
  EXPECT_EQ(ScratchOf(RowSum(512, 1024), kHopper).staging, 0);
  for (const int64_t n : {1024, 2048, 4096}) {
    const ReductionScratch s = ScratchOf(RowSum(n, 1024), kHopper);
    EXPECT_EQ(s.staging, 8 * n * 1024) << n;
    EXPECT_EQ(s.semaphores, 32) << n;
  }
}

TEST(ReductionScratchTest, FastReductionsOfManyRowsNeedNothing) {
  for (const int64_t width : {128, 1024, 10000}) {
    const Reduction r{.outputs = 4096, .inputs_per_output = width, .dimensions = 2};
    EXPECT_EQ(ScratchOf(r, kHopper).staging, 0) << width;
  }
}

TEST(ReductionScratchTest, MaximumWithIndexOverTheSlowVocabulary) {
  // 512 tokens, 10,000 logits each, written transposed by the product.
  Reduction r = RowSum(10000, 512);
  r.accumulator_bytes = 16;
  const ReductionScratch s = ScratchOf(r, kHopper);
  EXPECT_EQ(s.staging, 164'626'432);
  EXPECT_EQ(s.semaphores, 16);
  r.accumulator_bytes = 4;
  EXPECT_EQ(ScratchOf(r, kHopper).staging, 41'156'608);
}

TEST(RadixSortScratchTest, RecordedPoints) {
  for (const int64_t n : {512, 1024, 2048, 2304}) EXPECT_EQ(RadixSortScratch(n, 14), 1);
  EXPECT_EQ(RadixSortScratch(4096, 14), 72'191);
}

TEST(FlashSplitsTest, OneWhenTheGpuIsFull) {
  EXPECT_EQ(FlashSplits(8, 12, 1024, 1024, 64, 132), 1);
  EXPECT_GT(FlashSplits(1, 1, 64, 8192, 64, 132), 1);
}

// One head size is recorded (batch 1, 32 heads, 1000 tokens, fp32); the others follow the kernels
// that are compiled for them.
TEST(EfficientAttentionTest, BackwardAccumulatesInTiles) {
  EXPECT_EQ(EfficientBackwardWorkspace({.heads = 32, .queries = 1000, .keys = 1000}), 8'396'800);
  EfficientAttention a{.heads = 8, .queries = 512, .keys = 512, .head_size = 128};
  EXPECT_EQ(EfficientBackwardWorkspace(a), 8 * 4 * 4 * 2 * (128 * 64 + 4));
  a.compute_capability = 89;  // too little shared memory for tiles of 128
  EXPECT_EQ(EfficientBackwardWorkspace(a), 8 * 4 * 8 * 2 * (64 * 64 + 4));
  a.half = true;  // and the gradients of key and value do not stay in registers
  EXPECT_EQ(EfficientBackwardWorkspace(a), 8 * 4 * (8 * 2 * (64 * 64 + 4) + 2 * 8 * 64 * 128));
  a.heads = 100;  // the more pairs of batch and head, the fewer splits of the keys
  EXPECT_EQ(EfficientBackwardWorkspace(a), 100 * 4 * (8 * 2 * (64 * 64 + 4) + 2 * 2 * 64 * 128));
  a.heads = 8;
  a.head_size = 96;  // which has a kernel of its own
  EXPECT_EQ(EfficientBackwardWorkspace(a), 8 * 4 * 4 * 2 * (128 * 64 + 4));
  a.dropout = true;
  EXPECT_EQ(EfficientBackwardWorkspace(a), 8 * 4 * (8 * 2 * (64 * 64 + 4) + 2 * 8 * 64 * 128));
  a.compute_capability = 90;
  EXPECT_EQ(EfficientBackwardWorkspace(a), 8 * 4 * 4 * (128 * 128 + 4));
}

TEST(EfficientAttentionTest, ForwardAccumulatesWhatRegistersCannotHold) {
  EfficientAttention a{
      .batch = 2, .heads = 4, .queries = 100, .keys = 100, .head_size = 128, .half = true};
  EXPECT_EQ(EfficientForwardAccumulator(a), 0);
  a.head_size = 256;
  EXPECT_EQ(EfficientForwardAccumulator(a), 2 * 4 * 100 * 256 * 4);
  a.half = false;
  EXPECT_EQ(EfficientForwardAccumulator(a), 0);
}

TEST(BitWidthTest, Counts) {
  EXPECT_EQ(BitWidth(0), 0);
  EXPECT_EQ(BitWidth(10000), 14);
}

TEST(RooflineTest, SlowestOfBytesOperationsAndLaunch) {
  run::DeviceProfile d;
  d.bandwidth_bytes_per_s = 1e12;
  d.fp32_flops = 1e13;
  d.bf16_flops = 1e14;
  EXPECT_EQ(Roofline::Duration(d, {}), Roofline::kLaunchNs);
  EXPECT_EQ(Roofline::Duration(d, {.bytes = 1'000'000'000}), 1'000'000);
  EXPECT_EQ(Roofline::Duration(d, {.bytes = 1000, .flops = 1e12}), 100'000'000);
  EXPECT_EQ(Roofline::Duration(d, {.flops = 1e12, .rate = Rate::kBf16}), 10'000'000);
  EXPECT_EQ(Roofline::Duration(d, {.link_bytes = 25'000'000}), 1'000'000);
}

}  // namespace
}  // namespace vramscope::trainer::plan
