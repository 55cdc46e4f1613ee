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
