// Shortens the names that the compiler gives to kernels.
//
//   const auto name =
//       "void at::native::vectorized_elementwise_kernel<4, at::native::AbsFunctor<float>>(int)";
//   KernelName(name);      "vectorized_elementwise_kernel", for a rectangle
//   ReadableKernel(name);  "vectorized_elementwise_kernel<4, AbsFunctor<float>>", for a row
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::query {

// The name without return type, namespace and arguments.
std::string KernelName(std::string_view name);
// The name without namespaces and parameters, but with its template arguments, in which PyTorch's
// kernels differ. A lambda is named after its enclosing function.
std::string ReadableKernel(std::string_view name);

}  // namespace vramscope::query
