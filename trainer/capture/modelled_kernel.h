// Library kernels that a plan models instead of running (bitsandbytes, torchao, Liger). They take
// time on the device's clock and appear among the device's activities like real launches.
//
//   SetKernelLauncher(&LaunchOnTheClock);   // called once by the backend; null: kernels really run
//   LaunchModelled("bitsandbytes::dequantize_4bit", out, BytesOf(codes) + BytesOf(out));
//
// The launch belongs to the open operator (RECORD_FUNCTION). Thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace vramscope::trainer {

using LaunchKernel = void (*)(const char* name, uint64_t bytes, double flops);
void SetKernelLauncher(LaunchKernel launch);

// Launches on the device of `on`; does nothing if that is not a GPU. `bytes`: total bytes read and
// written. `flops`: operations in at most 16 bits.
void LaunchModelled(const char* name, const at::Tensor& on, uint64_t bytes, double flops = 0);

// Bytes of the tensor's elements; 0 if it is undefined.
inline uint64_t BytesOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.nbytes() : 0; }

}  // namespace vramscope::trainer
