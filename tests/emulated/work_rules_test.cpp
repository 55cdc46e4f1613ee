#include "emulated/core/work_rules.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/emulated/launched.h"

namespace vramscope::emulated {
namespace {

// Mangled kernel names as torch 2.11 registers them.
constexpr char kAdd[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
    "addIfEESt5arrayIPcLm3EEEEviT0_"
    "T1_";
constexpr char kMultiply[] =
    "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_"
    "13BinaryFunctorIfff"
    "NS0_15binary_internal10MulFunctorIfEEEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_";

class Launched : public LaunchedWith<Launched> {
 public:
  using LaunchedWith::LaunchedWith;
  std::optional<LaunchWork> Work(const char* name, Dim grid = {}, Dim block = {128, 1, 1}) {
    const OperandRules operands(name, sizes());
    return WorkRules(name, sizes(), operands).Of(grid, block, parameters());
  }
  // Writes consecutive four-byte numbers.
  Launched& Words(size_t parameter, size_t at, const std::vector<uint32_t>& words) {
    for (size_t i = 0; i < words.size(); ++i) Put(parameter, at + 4 * i, words[i]);
    return *this;
  }
};

TEST(WorkRules, CountsBytesByElementType) {
  EXPECT_EQ(Launched({4, 4, 24}).Put(0, 0, 1000).Work(kAdd)->bytes, 1000 * 12);
  EXPECT_EQ(Launched({4, 4, 24}).Put(0, 0, -1).Work(kAdd)->bytes, 0);
  EXPECT_FALSE(Launched({8}).Work("_Z1fPf"));
  EXPECT_FALSE(Launched({8}).Work("not_a_mangled_name"));
  // If the structure has another size, the rule for the kernel's name does not apply.
  EXPECT_FALSE(Launched({8, 4}).Work(kAdd));
}

// The three tensors have 100 rows of 50 elements, but the second has only one row, which is
// broadcast. The third is transposed.
TEST(WorkRules, CountsBytesOfStridedTensors) {
  Launched launched({4, 648});
  launched.Put(0, 0, 5000).Words(1, 0, {2, 50, 0, 0, 100, 0, 0});
  launched.Words(1, 4 + 25 * 12, {4, 4, 400, 200, 0, 4});
  for (int i = 0; i < 3; ++i) launched.Put(1, 608 + 8 * i, static_cast<char>('a' + i));
  const std::optional<LaunchWork> work = launched.Work(kMultiply);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->bytes, 5000 * 4 + 50 * 4 + 5000 * 32);
  EXPECT_GT(work->clocks, 5000 * 0.5);
  // 26 dimensions are more than a kernel supports, so the parameters are invalid.
  EXPECT_FALSE(launched.Words(1, 0, {26}).Work(kMultiply));
}

TEST(WorkRules, CountsBytesOfRows) {
  Launched norm({4, 4, 8, 8, 8, 8, 8, 8});
  norm.Put(0, 0, 768);
  const std::optional<LaunchWork> work = norm.Work(kLayerNorm, {2048, 1, 1});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->bytes, 2048 * 768 * 2 * 2.0) << "only the inputs that are read and the result";
  EXPECT_GT(work->serial_s, 0);
  EXPECT_EQ(Launched({8, 8, 8, 4, 8, 8, 8, 8, 1})
                .Put(3, 0, 10)
                .Put(4, 0, int64_t{3072})
                .Work(kGather)
                ->bytes,
            2 * 30720);
  EXPECT_EQ(Launched({216, 216, 216, 4, 4, 32}).Put(3, 0, 100).Work(kDropout)->bytes, 500);
}

TEST(WorkRules, CountsBytesOfReductions) {
  Launched launched({1048});
  launched.Words(0, 8, {4, 1024, 512, 64, 32, 16, 0, 1, 4, 1, 0, 32, 4, 128});
  const std::optional<LaunchWork> work = launched.Work(kReduce, {4, 16, 1}, {32, 4, 1});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->bytes, 1024 * 512 * 4.0 + 512 * 4);
  EXPECT_GT(work->serial_s, 5e-6) << "blocks pass on their sums";
  EXPECT_FALSE(launched.Work(kReduce, {4, 16, 1}, {64, 4, 1})) << "another block";
}

// There are two lists of two tensors. A chunk has 65,536 elements; only the last chunk of a tensor
// may be smaller.
TEST(WorkRules, CountsBytesOfTensorLists) {
  constexpr char kSqrt[] =
      "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi2EEENS1_"
      "14UnaryOpFunctorIfLi2ELi1ELi1EEEJNS0_4SqrtIfEEEEEvT_T0_DpT1_";
  constexpr int kMost = 64, kBlocks = 8 * 3 * kMost;
  Launched launched({3144, 1, 1});
  for (int list = 0; list < 2; ++list)
    for (int tensor = 0; tensor < 2; ++tensor)
      launched.Put(0, 8 * (list * kMost + tensor), static_cast<char>('a' + 2 * list + tensor));
  launched.Put(0, 8 * 2 * kMost, int64_t{100'000}).Put(0, 8 * (2 * kMost + 1), int64_t{10});
  for (int i = 0; i < 3; ++i) launched.Put(0, kBlocks + i, static_cast<uint8_t>(i == 2));
  launched.Words(0, kBlocks + 320, {0, 1, 0});
  const std::optional<LaunchWork> work = launched.Work(kSqrt, {3, 1, 1}, {512, 1, 1});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->bytes, 100'010 * 4 * 2.0);
  EXPECT_EQ(work->blocks, 3);
  launched.Put(0, kBlocks, uint8_t{200});
  EXPECT_FALSE(launched.Work(kSqrt, {3, 1, 1}, {512, 1, 1})) << "no such tensor";
}

TEST(WorkRules, CountsTilesOfAttention) {
  constexpr char kForward[] =
      "_Z38fmha_cutlassF_f32_aligned_64x64_rf_"
      "sm80N22PyTorchMemEffAttention15AttentionKernelIfN7cutlass"
      "4arch4Sm80ELb1ELi64ELi64ELi64ELb1ELb1EE6ParamsE";
  Launched forward({272});
  forward.Words(0, 4 * 24, {64, 64, 197, 197, 0, 0});
  const std::optional<LaunchWork> work = forward.Work(kForward, {4, 16, 8}, {32, 4, 1});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->tiles, 4 * 16 * 8);
  EXPECT_EQ(work->tile_flops, 4.0 * 64 * 64 * 256);
  EXPECT_EQ(work->precision, Precision::kFp32);
  forward.Words(0, 4 * 29, {1});
  EXPECT_EQ(forward.Work(kForward, {4, 16, 8})->tile_flops, 2.0 * 64 * 64 * 256) << "causal";
  forward.Words(0, 4 * 26, {0});
  EXPECT_FALSE(forward.Work(kForward, {4, 16, 8}));
}

}  // namespace
}  // namespace vramscope::emulated
