// Tracks the size of a process's CUDA context on a GPU: memory of the driver, kernel code, and
// memory that libraries allocate for handles. If the device table contains ContextGrowth (gpu.h),
// the context grows as on a real GPU.
//
//   GrowContext(CurrentDevice(), ContextPart::kCublas);  // in cublasCreate
//
// Thread-safe.
#pragma once

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Kernels, cuFFT plans and communicators grow a context only at first use; every handle grows it.
enum class ContextPart { kKernels, kCublas, kCudnn, kCusolver, kCufft, kNccl };

VRAMSCOPE_EMULATED_API void GrowContext(int device, ContextPart part);
// Destroying a cuBLAS handle releases the memory that its creation took.
VRAMSCOPE_EMULATED_API void ShrinkContext(int device, ContextPart part);

}  // namespace vramscope::emulated
