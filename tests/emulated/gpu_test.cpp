#include "emulated/core/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>

#include "emulated/core/attributes.h"
#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

using testing::HasSubstr;

constexpr char kGpu[] =
    "name=NVIDIA H100 80GB HBM3;memory_bytes=85017755648;context_bytes=702545920;sm_count=132;"
    "max_threads_per_sm=2048;compute_capability=90;l2_bytes=52428800;bandwidth_bytes_per_s=3.35e12;"
    "fp32_flops=66.9e12;tf32_flops=494.7e12;bf16_flops=989.4e12;boost_mhz=1980;bus_bits=5120";

TEST(GpuDescription, ParsesLine) {
  std::string problem;
  const auto gpu = ParseGpu(kGpu, &problem);
  ASSERT_TRUE(gpu) << problem;
  EXPECT_EQ(gpu->name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu->memory_bytes, 85017755648u);
  EXPECT_EQ(gpu->sm_count, 132);
  EXPECT_EQ(gpu->major(), 9);
  EXPECT_DOUBLE_EQ(gpu->bandwidth_bytes_per_s, 3.35e12);
  EXPECT_EQ(ArchitectureOf(*gpu).shared_per_block_most, 227 * 1024);
}

TEST(GpuDescription, ErrorsNameTheInvalidKey) {
  std::string problem;
  EXPECT_FALSE(ParseGpu("name=X", &problem));
  EXPECT_THAT(problem, HasSubstr("memory_bytes"));
  EXPECT_FALSE(ParseGpu("", &problem));
  EXPECT_THAT(problem, HasSubstr("name"));
  EXPECT_FALSE(ParseGpu("name=X;memory_bytes", &problem));
  EXPECT_THAT(problem, HasSubstr("'='"));
  for (const char* value : {"-1", "1e40", "nan", "inf", "12x", ""}) {
    EXPECT_FALSE(ParseGpu(std::string("name=X;memory_bytes=") + value, &problem)) << value;
    EXPECT_THAT(problem, HasSubstr("memory_bytes"));
  }
  EXPECT_FALSE(ParseGpu(std::string(kGpu) + ";context_bytes=9e10", &problem));
  EXPECT_THAT(problem, HasSubstr("context_bytes"));
}

// Compares the limits of every compute capability in the device table with the CUDA C++ programming
// guide: shared memory per multiprocessor and per block in KiB, and blocks per multiprocessor.
TEST(GpuDescription, HasTheLimitsOfItsComputeCapability) {
  struct Row {
    int compute_capability, shared, shared_of_block, blocks;
  };
  for (const Row& row :
       {Row{60, 64, 48, 32}, Row{61, 96, 48, 32}, Row{70, 96, 96, 32}, Row{75, 64, 64, 16},
        Row{80, 164, 163, 32}, Row{86, 100, 99, 16}, Row{87, 164, 163, 16}, Row{89, 100, 99, 24},
        Row{90, 228, 227, 32}, Row{100, 228, 227, 32}, Row{103, 228, 227, 32},
        Row{110, 228, 227, 24}, Row{120, 100, 99, 24}, Row{121, 100, 99, 24}}) {
    SCOPED_TRACE(row.compute_capability);
    Gpu gpu;
    gpu.compute_capability = row.compute_capability;
    const Architecture architecture = ArchitectureOf(gpu);
    EXPECT_EQ(architecture.shared_per_sm, row.shared * 1024);
    EXPECT_EQ(architecture.shared_per_block_most, row.shared_of_block * 1024);
    EXPECT_EQ(architecture.blocks_per_sm, row.blocks);
    EXPECT_EQ(architecture.registers_per_sm, 65536);
  }
}

TEST(GpuDescription, ReadsIntegratedAndEcc) {
  std::string problem;
  EXPECT_FALSE(ParseGpu(kGpu, &problem)->integrated);
  EXPECT_FALSE(ParseGpu(kGpu, &problem)->ecc.has_value());
  const auto gpu = ParseGpu(std::string(kGpu) + ";integrated=1;ecc=0", &problem);
  ASSERT_TRUE(gpu) << problem;
  EXPECT_TRUE(gpu->integrated);
  EXPECT_EQ(gpu->ecc, false);
}

TEST(GpuDescription, IgnoresUnknownKeys) {
  std::string problem;
  EXPECT_TRUE(ParseGpu(std::string(kGpu) + ";nvlinks=18", &problem)) << problem;
}

TEST(GpuDescription, ClampsClocksToInt) {
  std::string problem;
  const auto gpu = ParseGpu(
      std::string(kGpu) + ";boost_mhz=1e9;bandwidth_bytes_per_s=1e18;bus_bits=1", &problem);
  ASSERT_TRUE(gpu) << problem;
  ThePlatform().gpus = {*gpu};
  EXPECT_EQ(AttributeOf(0, Attribute::kClockKhz), INT_MAX);
  EXPECT_EQ(AttributeOf(0, Attribute::kMemoryClockKhz), INT_MAX);
}

TEST(GpuDescriptions, RepeatLastGpuUpToCount) {
  std::string problem;
  const std::string lines = std::string(kGpu) +
                            "\n\nname=Small;memory_bytes=8e9;sm_count=20;"
                            "max_threads_per_sm=1536;compute_capability=86\n";
  EXPECT_EQ(ParseGpus(lines, 0, &problem).size(), 2u);
  const auto four = ParseGpus(lines, 4, &problem);
  ASSERT_EQ(four.size(), 4u);
  EXPECT_EQ(four[0].sm_count, 132);
  EXPECT_EQ(four[3].name, "Small");
  EXPECT_EQ(ParseGpus(lines, 1, &problem).size(), 1u);
  EXPECT_TRUE(ParseGpus(lines, 100000, &problem).empty());
  EXPECT_TRUE(ParseGpus("\n \n", 2, &problem).empty());
  EXPECT_TRUE(ParseGpus(lines + "name=bad\n", 0, &problem).empty());
  EXPECT_THAT(problem, HasSubstr("line 3"));
}

// A CUDA context grows only if the size of a bare context is known. Otherwise, it has its full size
// from the start.
TEST(GpuDescription, ContextGrowthNeedsBareContextSize) {
  std::string problem;
  const std::string line = std::string(kGpu) + ";cublas_context_bytes=66;idle_bytes=9";
  const std::optional<Gpu> whole = ParseGpu(line, &problem);
  ASSERT_TRUE(whole) << problem;
  EXPECT_EQ(whole->context_bytes, 702545920u);
  EXPECT_EQ(whole->growth.cublas, 0u);
  const std::optional<Gpu> bare = ParseGpu(line + ";bare_context_bytes=518", &problem);
  ASSERT_TRUE(bare) << problem;
  EXPECT_EQ(bare->context_bytes, 518u);
  EXPECT_EQ(bare->growth.cublas, 66u);
  EXPECT_EQ(bare->idle_bytes, 9u);
}

}  // namespace
}  // namespace vramscope::emulated
