#include "profiler/query/kernel_names.h"

#include <gtest/gtest.h>

namespace vramscope::query {
namespace {

TEST(KernelNames, ShortNameOmitsNamespacesAndArguments) {
  EXPECT_EQ(KernelName("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn");
  EXPECT_EQ(KernelName("void at::native::vectorized_elementwise_kernel<4, X>(int, X)"),
            "vectorized_elementwise_kernel");
  EXPECT_EQ(KernelName("void (anonymous namespace)::softmax_warp<float>(float*)"), "softmax_warp");
  EXPECT_EQ(KernelName(""), "");
  EXPECT_EQ(KernelName("<<<"), "<<<");
  EXPECT_EQ(KernelName("void f()"), "f");
}

// The names are from PyTorch 2.11's libraries.
TEST(KernelNames, ReadableNameOmitsNamespacesAndLambdas) {
  EXPECT_EQ(ReadableKernel("void at::native::vectorized_elementwise_kernel<4, "
                           "at::native::BinaryFunctor<float, float, float, "
                           "at::native::binary_internal::MulFunctor<float> >, std::array<char*, "
                           "3ul> >(int, at::native::BinaryFunctor<float, float, float, "
                           "at::native::binary_internal::MulFunctor<float> >, std::array<char*, "
                           "3ul>)"),
            "vectorized_elementwise_kernel<4, BinaryFunctor<float, float, float, "
            "MulFunctor<float>>, array<char*, 3ul>>");
  EXPECT_EQ(ReadableKernel(
                "void at::native::elementwise_kernel<128, 2, "
                "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::"
                "TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()()"
                " const::{lambda(float)#1}>(at::TensorIteratorBase&, "
                "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::"
                "operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1} "
                "const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<X>(A&)::{lambda("
                "int)#1})"),
            "elementwise_kernel<128, 2, gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>");
  EXPECT_EQ(ReadableKernel("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
                           "at::native::(anonymous namespace)::TensorListMetadata<3>, "
                           "at::native::(anonymous namespace)::PointwiseOpScalarFunctor<float, 3, "
                           "3, 0> >(at::native::(anonymous namespace)::TensorListMetadata<3>)"),
            "multi_tensor_apply_kernel<TensorListMetadata<3>, PointwiseOpScalarFunctor<float, 3, "
            "3, 0>>");
  EXPECT_EQ(ReadableKernel("void reduce<F<float>::operator()(I&)::{lambda(float, float)#1}>(R)"),
            "reduce<F<float>>");
}

TEST(KernelNames, KeepsNamesThatAreNotFunctions) {
  for (const char* name : {"", "cublasSgemm_v2 (modelled)", "ampere_sgemm_128x64_tn", "<<<", "((",
                           "triton_poi_fused_add_0", "(anonymous namespace)", "::"})
    EXPECT_EQ(ReadableKernel(name), name);
  for (const char* broken : {"f<a(b", "void f<", "f<a>>>>(", "void ::", "f(a::<"})
    EXPECT_FALSE(ReadableKernel(broken).empty()) << broken;
}

}  // namespace
}  // namespace vramscope::query
