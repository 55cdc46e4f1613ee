#include "emulated/core/durations.h"

#include <gtest/gtest.h>

#include "emulated/core/occupancy.h"

namespace vramscope::emulated {
namespace {

Gpu A100() {
  Gpu gpu;
  gpu.sm_count = 108;
  gpu.max_threads_per_sm = 2048;
  gpu.compute_capability = 80;
  gpu.bandwidth_bytes_per_s = 2e12;
  gpu.fp32_flops = 19.5e12;
  gpu.tf32_flops = 156e12;
  gpu.bf16_flops = 312e12;
  return gpu;
}

Gpu H200() {
  Gpu gpu = A100();
  gpu.sm_count = 132;
  gpu.compute_capability = 90;
  gpu.l2_bytes = 50 << 20;
  gpu.bandwidth_bytes_per_s = 4.8e12;
  gpu.fp32_flops = 66.9e12;
  gpu.tf32_flops = 494.7e12;
  gpu.bf16_flops = 989.4e12;
  gpu.boost_mhz = 1980;
  return gpu;
}

constexpr double kMicrosecond = 1000;

TEST(Durations, TakeTheSlowerOfArithmeticAndMemory) {
  const Gpu gpu = A100();
  EXPECT_NEAR(WorkDuration(gpu, 312e12, Precision::kBf16, 0), 1'000'001'000, 1);
  EXPECT_NEAR(WorkDuration(gpu, 156e12, Precision::kTf32, 0), 1'000'001'000, 1);
  EXPECT_NEAR(WorkDuration(gpu, 1, Precision::kFp32, uint64_t{1'800'000'000}), 1'001'000, 1);
  EXPECT_GT(CopyDuration(gpu, 1 << 30, CopyPath::kPageable),
            CopyDuration(gpu, 1 << 30, CopyPath::kPinned));
  EXPECT_GT(CopyDuration(gpu, 1 << 30, CopyPath::kPinned),
            CopyDuration(gpu, 1 << 30, CopyPath::kOnGpu));
}

TEST(Durations, HaveLowerAndUpperBounds) {
  const Gpu gpu = A100();
  EXPECT_GE(WorkDuration(gpu, 0, Precision::kFp32, 0), 1000);
  EXPECT_GE(KernelDuration(gpu, 1, 1), 1000);
  EXPECT_LE(WorkDuration(gpu, 1e300, Precision::kFp32, ~uint64_t{0}), 3'600'000'000'000);
  EXPECT_LE(ProductDuration(gpu, {.m = INT64_MAX, .n = INT64_MAX, .k = INT64_MAX}, 1e300,
                            Precision::kBf16, ~uint64_t{0}),
            3'600'000'000'000);
  EXPECT_GE(LaunchDuration(Gpu{}, {.bytes = 1, .clocks = 1}), 1000);
}

// The expected durations were measured on an H200 (driver 580.159.04, PyTorch 2.11 for CUDA 13.0)
// with events around many calls.
TEST(Durations, ProductsMatchMeasurements) {
  struct Case {
    int64_t m, n, k;
    Precision precision;
    double microseconds;
    int64_t batch = 1;
    int alignment = 16;
  };
  const Case cases[] = {{8192, 8192, 8192, Precision::kFp32, 21682},
                        {2048, 2048, 2048, Precision::kFp32, 342},
                        {4864, 1024, 896, Precision::kFp32, 249},
                        {896, 1024, 4864, Precision::kFp32, 221},
                        {1024, 512, 1024, Precision::kFp32, 32.9},
                        {64, 512, 512, Precision::kFp32, 31.2, 28},
                        {4096, 4096, 4096, Precision::kTf32, 362},
                        {8192, 8192, 8192, Precision::kTf32, 2737},
                        {8192, 8192, 8192, Precision::kBf16, 1415},
                        {4096, 4096, 4096, Precision::kBf16, 176},
                        {2048, 2048, 2048, Precision::kBf16, 25.6},
                        {3072, 4096, 768, Precision::kBf16, 30.1},
                        {768, 2048, 768, Precision::kBf16, 6.7},
                        {768, 4096, 50257, Precision::kBf16, 2369, 1, 2}};
  for (const Case& c : cases) {
    const double flops = 2.0 * static_cast<double>(c.m * c.n * c.batch) * static_cast<double>(c.k);
    const int64_t ns = ProductDuration(
        H200(), {.m = c.m, .n = c.n, .k = c.k, .batch = c.batch, .alignment = c.alignment}, flops,
        c.precision, 0);
    EXPECT_NEAR(static_cast<double>(ns) / kMicrosecond / c.microseconds, 1, 0.12)
        << c.m << " x " << c.n << " x " << c.k;
  }
}

// If there is one more tile than multiprocessors, the product takes a second wave.
TEST(Durations, ProductsTakeWholeWaves) {
  const auto duration = [](int64_t columns) {
    return ProductDuration(H200(), {.m = 256, .n = columns, .k = 4096},
                           2.0 * 256 * static_cast<double>(columns) * 4096, Precision::kFp32, 0);
  };
  EXPECT_EQ(duration(132 * 128), duration(131 * 128 + 1));
  EXPECT_GT(duration(132 * 128 + 1), duration(132 * 128));
}

TEST(Durations, MemoryKernelsMatchMeasurements) {
  const auto us = [](const LaunchWork& work) {
    return static_cast<double>(LaunchDuration(H200(), work)) / kMicrosecond;
  };
  EXPECT_NEAR(us({.bytes = 2.0 * (1 << 29)}), 255, 25);  // a copy of 512 MiB
  EXPECT_NEAR(us({.bytes = 12.0 * (2 << 20)}), 5.25,
              0.7);  // a sum of two 8 MiB tensors, in the cache
  EXPECT_LT(us({}), 1.5);
  // 24 blocks of 1,024 threads each iterate over 2,048 rows of 768 elements in two tensors.
  EXPECT_NEAR(us({.bytes = 2.0 * 2048 * 768 * 4, .serial_threads = 24 * 1024}), 7.6, 2);
  // A foreach kernel with one tensor list: 320 blocks read and write 65,536 elements each.
  EXPECT_NEAR(us({.bytes = 320.0 * 65536 * 8, .blocks = 320}), 44.3, 4);
  EXPECT_NEAR(us({.bytes = 195.0 * 65536 * 8, .blocks = 195}), 30.3, 3);
  EXPECT_NEAR(static_cast<double>(CopyDuration(H200(), 64 << 20, CopyPath::kPinned)), 1.213e6, 5e4);
}

KernelFacts Using(int registers, int shared = 0) {
  KernelFacts facts;
  facts.registers = registers;
  facts.static_shared = shared;
  return facts;
}

// The expected figures are from CUDA's occupancy calculator for compute capability 8.0.
TEST(Occupancy, MatchesCudaCalculator) {
  const Gpu gpu = A100();
  const Architecture architecture = ArchitectureOf(gpu);
  const auto blocks = [&](const KernelFacts& facts, int threads, uint64_t dynamic = 0) {
    return BlocksThatFit(gpu, architecture, facts, threads, dynamic);
  };
  EXPECT_EQ(blocks(Using(32), 128), 16);
  EXPECT_EQ(blocks(Using(32), 1024), 2);
  EXPECT_EQ(blocks(Using(64), 256), 4);
  EXPECT_EQ(blocks(Using(255), 256), 1);
  EXPECT_EQ(blocks(Using(40), 256), 6);
  EXPECT_EQ(blocks(Using(16), 32), 32);  // limited by the blocks per multiprocessor
  EXPECT_EQ(blocks(Using(32, 40 * 1024), 128),
            4);  // limited by shared memory; the system uses 1 KiB per block
  EXPECT_EQ(blocks(Using(32), 128, 163 * 1024), 1);
  EXPECT_EQ(blocks(Using(32), 128, 200 * 1024), 0);
  EXPECT_EQ(blocks(Using(32), 0), 0);
  EXPECT_EQ(blocks(Using(32), 2000), 0);
}

}  // namespace
}  // namespace vramscope::emulated
