// What a kernel is called, shorter than its compiler calls it.
//
//   const auto name = "void at::native::vectorized_elementwise_kernel<4,
//   at::native::AbsFunctor<float>>(int, ...)"; KernelName(name); "vectorized_elementwise_kernel",
//   for a rectangle ReadableKernel(name);   "vectorized_elementwise_kernel<4, AbsFunctor<float>>",
//   for a row
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::query {

// Without what it returns, its namespace and its arguments.
std::string KernelName(std::string_view name);
// With those of its template, by which PyTorch's kernels differ; without namespaces and parameters,
// and a lambda under the name of the function that it stands in.
std::string ReadableKernel(std::string_view name);

}  // namespace vramscope::query
