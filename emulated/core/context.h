// What a process holds of a card beside what it asks for: the driver's context, code of kernels,
// what libraries take with their handles. It grows where the device table knows by how much
// (card.h), as it does on a card.
//
//   GrowContext(CurrentDevice(), ContextPart::kCublas);  // in cublasCreate
//
// Thread-safe.
#pragma once

#include "emulated/core/api.h"

namespace vramscope::emulated {

// The first kernel, plan of cuFFT and communicator of NCCL count once a device; handles each.
enum class ContextPart { kKernels, kCublas, kCudnn, kCusolver, kCufft, kNccl };

VRAMSCOPE_EMULATED_API void GrowContext(int device, ContextPart part);
// A handle of cuBLAS gives back what it took when it was made.
VRAMSCOPE_EMULATED_API void ShrinkContext(int device, ContextPart part);

}  // namespace vramscope::emulated
