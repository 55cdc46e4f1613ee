#include "emulated/core/kernels.h"

#include <gtest/gtest.h>

namespace vramscope::emulated {
namespace {

TEST(Kernels, AreForgottenWithTheirImage) {
  const char functions[3] = {}, images[2] = {};
  RegisterKernel(&functions[0], "first", &images[0]);
  RegisterKernel(&functions[1], "second", &images[0]);
  RegisterKernel(&functions[2], "third", &images[1]);
  // The second image registers a function at an address that the first image used.
  RegisterKernel(&functions[0], "fourth", &images[1]);
  ForgetKernels(&images[0]);
  EXPECT_TRUE(IsRegistered(&functions[0]));
  EXPECT_FALSE(IsRegistered(&functions[1]));
  EXPECT_TRUE(IsRegistered(&functions[2]));
  ForgetKernels(&images[0]);
  EXPECT_TRUE(IsRegistered(&functions[0]));
  ForgetKernels(&images[1]);
  EXPECT_FALSE(IsRegistered(&functions[0]));
  EXPECT_FALSE(IsRegistered(&functions[2]));
}

TEST(Kernels, AreForgottenForManyImages) {
  constexpr int kImages = 100'000;
  const std::vector<char> places(kImages);
  for (const char& place : places) RegisterKernel(&place, "kernel", &place);
  for (const char& place : places) ForgetKernels(&place);
  for (const char& place : places) ASSERT_FALSE(IsRegistered(&place));
}

}  // namespace
}  // namespace vramscope::emulated
