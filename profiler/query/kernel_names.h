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

// Returns the name without return type, namespaces and arguments.
std::string KernelName(std::string_view name);
// Returns the name without namespaces and parameters. Keeps the template arguments, because many
// kernels of PyTorch differ only in these. A lambda is named after its enclosing function.
std::string ReadableKernel(std::string_view name);

}  // namespace vramscope::query
