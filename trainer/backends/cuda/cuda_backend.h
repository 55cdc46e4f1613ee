// The cuda backend runs PyTorch's own libtorch_cuda, whose caching allocator reports every
// decision. With the real CUDA libraries, a run becomes a recording. With the emulated platform
// (emulated/), whose libraries present a GPU but compute nothing, a run becomes a plan. The host
// code is the same, so the allocations are the same, including every operator's workspaces.
//
// The choice between the two is made when the process starts (emulated/README.md, "Redirection");
// see OnEmulatedPlatform().
//
// Used on the run's thread. The tracker is called from every thread that allocates.
#pragma once

#include "trainer/backends/backend.h"

namespace vramscope::trainer {

// Whether this process was started on the emulated platform.
bool OnEmulatedPlatform();

// Declares that the process has the CUDA libraries of a real GPU, so that runs are recordings. Call
// it before anything else. Tests without a GPU call it with the emulated platform's libraries.
void UseInstalledGpu();

// One per process. Start() returns kFailedPrecondition if libtorch_cuda can't be loaded.
Backend& CudaBackend();

}  // namespace vramscope::trainer
