// Kernels of libraries (bitsandbytes, torchao, Liger) that a plan models instead of running them.
// Like real launches, they take time on the device's clock and are activities of the device.
//
//   SetKernelLauncher(&LaunchOnTheClock);   // called once by the backend; null: kernels really run
//   LaunchModelled("bitsandbytes::dequantize_4bit", out, BytesOf(codes) + BytesOf(out));
//
// A launch belongs to the operator that is open (RECORD_FUNCTION). Thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace vramscope::trainer {

using LaunchKernel = void (*)(const char* name, uint64_t bytes, double flops);
void SetKernelLauncher(LaunchKernel launch);

// Launches the kernel on the device of `on` if that is a GPU. `bytes` is how much the kernel reads
// and writes in all, and `flops` its number of operations with 16 or fewer bits.
void LaunchModelled(const char* name, const at::Tensor& on, uint64_t bytes, double flops = 0);

// Returns the bytes of the tensor's elements, or 0 if it is undefined.
inline uint64_t BytesOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.nbytes() : 0; }

}  // namespace vramscope::trainer
