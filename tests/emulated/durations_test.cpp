#include "emulated/core/durations.h"

#include <gtest/gtest.h>

#include "emulated/core/occupancy.h"

namespace vramscope::emulated {
namespace {

Card A100() {
  Card card;
  card.sm_count = 108;
  card.max_threads_per_sm = 2048;
  card.compute_capability = 80;
  card.bandwidth_bytes_per_s = 2e12;
  card.fp32_flops = 19.5e12;
  card.tf32_flops = 156e12;
  card.bf16_flops = 312e12;
  return card;
}

TEST(Durations, TheSlowerOfArithmeticAndMemory) {
  const Card card = A100();
  EXPECT_EQ(WorkDuration(card, 312e12, Precision::kBf16, 0), 1'000'000'000);
  EXPECT_EQ(WorkDuration(card, 156e12, Precision::kTf32, 0), 1'000'000'000);
  EXPECT_EQ(WorkDuration(card, 1, Precision::kFp32, uint64_t{2'000'000'000}), 1'000'000);
  EXPECT_GT(CopyDuration(card, 1 << 30, true), CopyDuration(card, 1 << 30, false));
}

TEST(Durations, NothingTakesNoTimeOrForEver) {
  const Card card = A100();
  EXPECT_GE(WorkDuration(card, 0, Precision::kFp32, 0), 1000);
  EXPECT_GE(KernelDuration(card, 1, 1), 1000);
  EXPECT_LE(WorkDuration(card, 1e300, Precision::kFp32, ~uint64_t{0}), 3'600'000'000'000);
}

// A block of a foreach kernel takes a chunk of every list.
TEST(Durations, KernelsOverListsMoveWhatTheirListsHold) {
  EXPECT_EQ(BytesPerThread("vectorized_elementwise_kernel"), kBytesPerThread);
  EXPECT_EQ(BytesPerThread("multi_tensor_apply_kernel"), kBytesPerThread);
  EXPECT_EQ(BytesPerThread("_Z25multi_tensor_apply_kernelI18TensorListMetadataILi2EEfE"),
            128 * 4 * 3);
  EXPECT_EQ(
      BytesPerThread("_Z25multi_tensor_apply_kernelI18TensorListMetadataILi1EEN3c108BFloat16"),
      128 * 2 * 2);
  EXPECT_EQ(BytesPerThread("multi_tensor_apply_kernelTensorListMetadataILi999999E"), 128 * 4 * 9);
}

KernelFacts Using(int registers, int shared = 0) {
  KernelFacts facts;
  facts.registers = registers;
  facts.static_shared = shared;
  return facts;
}

// Rows of CUDA's occupancy calculator for compute capability 8.0.
TEST(Occupancy, LikeTheCalculator) {
  const Card card = A100();
  const Architecture architecture = ArchitectureOf(card);
  const auto blocks = [&](const KernelFacts& facts, int threads, uint64_t dynamic = 0) {
    return BlocksThatFit(card, architecture, facts, threads, dynamic);
  };
  EXPECT_EQ(blocks(Using(32), 128), 16);
  EXPECT_EQ(blocks(Using(32), 1024), 2);
  EXPECT_EQ(blocks(Using(64), 256), 4);
  EXPECT_EQ(blocks(Using(255), 256), 1);
  EXPECT_EQ(blocks(Using(40), 256), 6);
  EXPECT_EQ(blocks(Using(16), 32), 32);             // blocks of a multiprocessor
  EXPECT_EQ(blocks(Using(32, 40 * 1024), 128), 4);  // shared memory and 1 KiB of the system's
  EXPECT_EQ(blocks(Using(32), 128, 163 * 1024), 1);
  EXPECT_EQ(blocks(Using(32), 128, 200 * 1024), 0);
  EXPECT_EQ(blocks(Using(32), 0), 0);
  EXPECT_EQ(blocks(Using(32), 2000), 0);
}

}  // namespace
}  // namespace vramscope::emulated
