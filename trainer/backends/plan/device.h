// Makes this process own the CUDA dispatch key: allocator, device guard, hooks, fallback, kernels.
#pragma once

#include <absl/status/status.h>

namespace vramscope::trainer::plan {

// Once a process, before anything asks LibTorch about CUDA and before the first backward (which
// counts devices and starts their threads). kFailedPrecondition: too late, or libtorch_cuda is
// loaded. Later calls return the first one's result.
absl::Status RegisterPlanDevice();

}  // namespace vramscope::trainer::plan
