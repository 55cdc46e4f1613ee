#include "emulated/core/operand_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulated/launched.h"

namespace vramscope::emulated {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Names as torch 2.11 registers them.
constexpr char kLayerNormGradient[] =
    "_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a28layer_norm_grad_input_"
    "kernelIN3c104HalfEfLb0EEEvPKT_S7_PKT0_SA_S7_PS5_i";
constexpr char kStrided[] =
    "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastIN48_GLOBAL__N__"
    "70991ef6_15_IGammaKernel_cu_cb51a28d10CalcIgammaIdEEEEvRNS_18TensorIteratorBaseERKT_EUliE_"
    "EEviT1_";
constexpr char kConcatenation[] =
    "_ZN2at6native40_GLOBAL__N__0f1a8107_8_Shape_cu_49f7391c26CatArrayBatchedCopy_contigINS1_"
    "10OpaqueTypeILj16EEEjLi1ELi128ELi1EEEvPT_NS1_25CatArrInputTensorMetadataIS5_T0_XT2_EXT3_"
    "EEENS1_"
    "16TensorSizeStrideIS8_Lj4EEEiS8_";

// Returns the operands of a launch as texts. "ar": a is read. "bw": b is written. "cb": c is read
// and written. "d?": the use of d is unknown.
class Launched : public LaunchedWith<Launched> {
 public:
  using LaunchedWith::LaunchedWith;
  std::vector<std::string> Operands(const char* name, Dim grid = {}) {
    std::vector<Operand> operands;
    OperandRules(name, sizes()).Read(grid, parameters(), &operands);
    std::vector<std::string> texts;
    for (const Operand& operand : operands)
      texts.push_back(std::string(1, static_cast<char>(operand.address >> 20)) +
                      "?rwb"[static_cast<int>(operand.use)]);
    return texts;
  }
};

TEST(OperandRules, PointersToConstAreRead) {
  Launched launched({4, 4, 8, 8, 8, 8, 8, 8});
  for (size_t i = 2; i < 8; ++i) launched.Put(i, 0, static_cast<char>('a' + i - 2));
  EXPECT_THAT(launched.Operands(kLayerNorm), ElementsAre("ar", "br", "cr", "dw", "ew", "fw"));
  // There is no rule for this kernel. If its signature lets it write to only one parameter, it
  // writes to that one. If it could write to two, the use of both is unknown.
  EXPECT_THAT(Launched({8, 8, 4}).Put(0, 0, 'a').Put(1, 0, 'b').Operands("_Z1fPfPKfi"),
              ElementsAre("aw", "br"));
  EXPECT_THAT(
      Launched({8, 8, 8}).Put(0, 0, 'a').Put(1, 0, 'b').Put(2, 0, 'c').Operands("_Z1fPfPKfS_"),
      ElementsAre("a?", "br", "c?"));
  // Instead of the first parameter, the kernel may write to an address in the structure S.
  EXPECT_THAT(Launched({8, 8}).Put(0, 0, 'a').Put(1, 0, 'b').Operands("_Z1fPf1S"),
              ElementsAre("a?", "b?"));
  Launched gradient({8, 8, 8, 8, 8, 8, 4});
  for (size_t i = 0; i < 6; ++i) gradient.Put(i, 0, static_cast<char>('a' + i));
  EXPECT_THAT(gradient.Operands(kLayerNormGradient),
              ElementsAre("ar", "br", "cr", "dr", "er", "fw"));
  EXPECT_THAT(Launched({8, 8, 8, 4, 8, 8, 8, 8, 1})
                  .Put(0, 0, 'a')
                  .Put(1, 0, 'b')
                  .Put(2, 0, 'c')
                  .Operands(kGather),
              ElementsAre("aw", "br", "cr"));
}

TEST(OperandRules, TensorStructuresHaveOneOperandEach) {
  Launched launched({216, 216, 216, 4, 4, 32});
  for (size_t i = 0; i < 3; ++i) launched.Put(i, 0, static_cast<char>('a' + i));
  for (size_t at = 0; at < 32; at += 8) launched.Put(5, at, uint64_t{1});
  EXPECT_THAT(launched.Operands(kDropout), ElementsAre("ar", "bw", "cw"));
}

TEST(OperandRules, UnmatchedNamesLeaveUseUnknown) {
  for (const char* name : {"", "triton_poi_fused_0", "_Z1fPKf", kReduce, kStrided, kConcatenation})
    EXPECT_THAT(Launched({8, 8, 16}).Put(0, 0, 'a').Put(1, 0, 'b').Operands(name),
                ElementsAre("a?", "b?", "??", "??"))
        << name;
  std::vector<Operand> operands;
  OperandRules().Read({}, nullptr, &operands);
  EXPECT_THAT(operands, IsEmpty());
}

// The source, the destination and the fields that follow are at the end of the structure. The
// strides before them are not read. If there is a second result, its address is unknown.
TEST(OperandRules, ReductionsReadAndWrite) {
  constexpr uint16_t kBytes = 1016;
  const auto launched = [](char accumulates, uint32_t results, size_t behind) {
    Launched of({kBytes});
    const size_t begin = kBytes - 64 - behind;
    of.Put(0, begin, 'a').Put(0, begin + 8, 'b');
    for (size_t at = 24; at < 64; at += 8) of.Put(0, begin + at, uint64_t{0});
    of.Put(0, begin + 56, static_cast<uint8_t>(accumulates)).Put(0, begin + 60, results);
    return of.Operands(kReduce);
  };
  EXPECT_THAT(launched(0, 1, 0), ElementsAre("ar", "bw"));
  EXPECT_THAT(launched(1, 1, 0), ElementsAre("ar", "bb"));
  EXPECT_THAT(launched(0, 2, 0), ElementsAre("ar", "bw", "?w"));
  EXPECT_THAT(launched(0, 1, 8), ElementsAre("ar", "bw"));
  // If no known layout matches, all addresses are operands.
  EXPECT_THAT(launched(2, 1, 0), testing::Contains("a?"));
  EXPECT_THAT(launched(0, 3, 0), testing::Contains("b?"));
}

TEST(OperandRules, ElementwiseKernelsReadInputsAndWriteResult) {
  // The addresses follow the strides: 504 bytes of strides in a copy, 608 in an addition.
  EXPECT_THAT(Launched({4, 528})
                  .Put(1, 504, 'a')
                  .Put(1, 512, 'b')
                  .Put(1, 520, uint64_t{0})
                  .Operands(kStrided),
              ElementsAre("aw", "br"));
  EXPECT_THAT(Launched({4, 640})
                  .Put(1, 608, 'a')
                  .Put(1, 616, 'b')
                  .Put(1, 624, 'c')
                  .Put(1, 632, uint64_t{0})
                  .Operands(kStrided),
              ElementsAre("aw", "br", "cr"));
  // This functor also contains an address.
  EXPECT_THAT(
      Launched({4, 528}).Put(1, 504, 'a').Put(1, 512, 'b').Put(1, 520, 'c').Operands(kStrided),
      ElementsAre("aw", "br", "c?"));
}

TEST(OperandRules, ConcatenationReadsTensorsUpToGridHeight) {
  Launched launched({8, 2600, 32, 4, 4});
  launched.Put(0, 0, 'a').Put(1, 0, 'b').Put(1, 8, 'c').Put(1, 16, 'd');
  EXPECT_THAT(launched.Operands(kConcatenation, {4, 2, 1}), ElementsAre("aw", "br", "cr"));
}

// Returns the mangled name of a foreach kernel with `lists` tensor lists.
std::string Foreach(int lists, const std::string& functor) {
  return "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi" +
         std::to_string(lists) + "EEENS1_" + functor + "JEEEvT_T0_DpT1_";
}

TEST(OperandRules, ForeachReportsOnlyTensorsOfItsBlocks) {
  // The structure has two lists of 64 addresses each, 64 sizes, and the tensor index of each block.
  // In this launch, one block works on the first tensor and two on the third. The other entries
  // contain data of an earlier launch.
  constexpr uint16_t kBytes = 64 * 24 + 320 * 5 + 8;
  constexpr size_t kBlocks = 64 * 24;
  Launched launched({kBytes, 1});
  launched.Put(0, 0, 'a').Put(0, 8, '1').Put(0, 16, 'b').Put(0, 24, '2');
  launched.Put(0, 512, 'c').Put(0, 520, '3').Put(0, 528, 'd').Put(0, 536, '4');
  launched.Put(0, kBlocks, uint8_t{0})
      .Put(0, kBlocks + 1, uint8_t{2})
      .Put(0, kBlocks + 2, uint8_t{2});
  launched.Put(0, kBlocks + 3, uint8_t{1});
  EXPECT_THAT(launched.Operands(Foreach(2, "14UnaryOpFunctorIfLi2ELi1ELi1EEE").c_str(), {3, 1, 1}),
              UnorderedElementsAre("ar", "br", "cw", "dw"));
  // An in-place operation writes to its input.
  EXPECT_THAT(launched.Operands(Foreach(2, "24BinaryOpListAlphaFunctorIfLi2ELi2ELi0EEE").c_str(),
                                {3, 1, 1}),
              UnorderedElementsAre("ab", "bb", "cr", "dr"));
  // For an unknown functor, the tensors are the same, but their use is unknown.
  EXPECT_THAT(launched.Operands(Foreach(2, "7FunctorIfLi2ELi1ELi1EEE").c_str(), {3, 1, 1}),
              UnorderedElementsAre("a?", "b?", "c?", "d?"));
  // If the structure has another size, its layout is unknown, and all addresses in it are operands.
  EXPECT_GT(Launched({kBytes + 16, 1})
                .Operands(Foreach(2, "14UnaryOpFunctorIfLi2ELi1ELi1EEE").c_str(), {3, 1, 1})
                .size(),
            300);
}

TEST(OperandRules, FusedAdamReadsGradientsAndSteps) {
  constexpr uint16_t kBytes = 36 * 48 + 320 * 5 + 8;
  Launched launched({kBytes, 1, 8, 8});
  for (size_t list = 0; list < 4; ++list)
    launched.Put(0, list * 36 * 8, static_cast<char>('a' + list));
  launched.Put(0, 36 * 40, 's').Put(0, 36 * 48, uint8_t{0}).Put(2, 0, 'l').Put(3, 0, uint64_t{0});
  const std::string name =
      "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_"
      "32FusedOptimizerTensorListMetadataILi4"
      "EEENS1_20FusedAdamMathFunctorIfLi4ELNS0_9ADAM_MODEE0ELb0EEEJPKfS8_EEEvT_T0_DpT1_";
  EXPECT_THAT(launched.Operands(name.c_str(), {1, 1, 1}),
              UnorderedElementsAre("lr", "ab", "br", "cb", "db", "sr"));
}

}  // namespace
}  // namespace vramscope::emulated
