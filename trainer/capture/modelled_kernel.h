// Kernels of libraries that a plan models instead of running (bitsandbytes', torchao's, Liger's):
// they take time on the device's clock and appear among its activities, as kernels that are
// launched do.
//
//   SetKernelLauncher(&LaunchOnTheClock);   // the backend, once; null: kernels really run
//   LaunchModelled("bitsandbytes::dequantize_4bit", out, BytesOf(codes) + BytesOf(out));
//
// The launch belongs to the operator that is open (RECORD_FUNCTION). Thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace vramscope::trainer {

using LaunchKernel = void (*)(const char* name, uint64_t bytes, double flops);
void SetKernelLauncher(LaunchKernel launch);

// On the device of `on`. `bytes`: read and written, each as often as it is; `flops`: of 16 bits and
// narrower. Nothing happens for a tensor that is not on a GPU.
void LaunchModelled(const char* name, const at::Tensor& on, uint64_t bytes, double flops = 0);

// Of its elements; 0 of an undefined tensor.
inline uint64_t BytesOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.nbytes() : 0; }

}  // namespace vramscope::trainer
