// The cuda backend runs PyTorch's own libtorch_cuda, whose caching allocator reports every
// decision. With the real CUDA libraries, a run becomes a recording. With the emulated platform
// (emulated/), whose libraries act as a GPU but compute nothing, it becomes a plan. Both run the
// same host code, so they allocate the same, including the workspaces of all operators.
//
// Whether a run becomes a recording or a plan depends on how the process was started
// (emulated/README.md, "Redirection"); see OnEmulatedPlatform().
//
// Call the backend only on the run's thread. The tracker is called on every thread that allocates.
#pragma once

#include "trainer/backends/backend.h"

namespace vramscope::trainer {

// Returns whether this process was started on the emulated platform.
bool OnEmulatedPlatform();

// Declares that the process has the CUDA libraries of a real GPU, so that runs are recordings. Call
// this before any other function. Tests without a GPU call it, too, although they have the emulated
// platform's libraries.
void UseInstalledGpu();

// The backend exists once per process. If libtorch_cuda cannot be loaded, Start() returns
// kFailedPrecondition.
Backend& CudaBackend();

}  // namespace vramscope::trainer
