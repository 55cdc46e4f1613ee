#include "emulated/core/masks.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace vramscope::emulated {
namespace {

constexpr char kWhole[] =
    "_ZN15at_cuda_detail3cub28DeviceReduceSingleTileKernelINS0_18DeviceReducePolicyIbiiNS0_3SumEE9"
    "Policy600ENS0_22TransformInputIteratorIbN2at6native50_GLOBAL__N__9NonZeroOpIbEEPKblEEPiiS3_i"
    "iEEvT0_T1_T2_T3_T4_T6_";

TEST(MaskKernels, AreRecognizedByName) {
  EXPECT_EQ(MaskKernelOf(kWhole).kernel, MaskKernel::kCounts);
  EXPECT_EQ(MaskKernelOf(kWhole).element_bytes, 1);
  EXPECT_EQ(MaskKernelOf("_Z18DeviceReduceKernelI9NonZeroOpIlEE").kernel, MaskKernel::kBegins);
  EXPECT_EQ(MaskKernelOf("_Z18DeviceReduceKernelI9NonZeroOpIlEE").element_bytes, 8);
  EXPECT_EQ(MaskKernelOf("_Z18DeviceReduceKernelI9NonZeroOpIN3c104HalfEEE").element_bytes, 0);
  EXPECT_EQ(MaskKernelOf("_Z28DeviceReduceSingleTileKernelIPiS_iE").kernel, MaskKernel::kSums);
  EXPECT_EQ(MaskKernelOf("_Z18DeviceReduceKernelIPiS_iE").kernel, MaskKernel::kNone);
  EXPECT_EQ(MaskKernelOf("_Z23DeviceSelectSweepKernelI9NonZeroOpIbEE").kernel, MaskKernel::kNone);
  EXPECT_EQ(MaskKernelOf("_ZN3cub13unique_by_key28DeviceUniqueByKeySweepKernelIPlS2_EEvT_").kernel,
            MaskKernel::kDistinct);
}

TEST(Masks, CountUsesBytesThenDeclaredThenAll) {
  constexpr uint64_t kBytes = 4096;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto address = reinterpret_cast<uint64_t>(memory);
  HostBytes bytes;
  Masks masks;
  EXPECT_EQ(masks.Count(bytes, address, 8, 1), 8u);
  const char mask[8] = {1, 0, 0, 2, 0, 0, 0, 1};
  bytes.Write(address, mask, sizeof mask);
  EXPECT_EQ(masks.Count(bytes, address, 8, 1), 3u);
  EXPECT_EQ(masks.Count(bytes, address, 2, 4), 2u);
  EXPECT_EQ(masks.Count(bytes, address, 9, 1), 9u);  // one byte is unknown
  EXPECT_EQ(masks.Count(bytes, address, uint64_t{1} << 62, 8), uint64_t{1} << 62);
  bytes.Overwritten(address, sizeof mask);
  EXPECT_EQ(masks.Count(bytes, address, 8, 1), 3u);  // the last known count
  EXPECT_EQ(masks.Count(bytes, address, 7, 1), 7u);  // no count is known for a mask of this size
  masks.Say(address, 8, 5);
  EXPECT_EQ(masks.Count(bytes, address, 8, 1), 5u);
  masks.Say(address, 8, 100);
  EXPECT_EQ(masks.Count(bytes, address, 8, 1), 8u);
  masks.Say(0, 16, 3);  // address 0: applies to masks of this size at any address
  EXPECT_EQ(masks.Count(bytes, address + 1024, 16, 1), 3u);
  EXPECT_EQ(masks.Count(bytes, address + 1024, 17, 1), 17u);
  munmap(memory, kBytes);
}

TEST(Masks, DistinctKeysDefaultToAll) {
  EXPECT_EQ(Masks::Distinct(100), 100u);
  Masks::SayDistinct(7);
  EXPECT_EQ(Masks::Distinct(100), 7u);
  EXPECT_EQ(Masks::Distinct(5), 5u);
  Masks::SayDistinct(0);
  EXPECT_EQ(Masks::Distinct(100), 100u);
}

}  // namespace
}  // namespace vramscope::emulated
