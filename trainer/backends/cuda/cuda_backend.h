// The cuda backend runs PyTorch's own libtorch_cuda, whose caching allocator reports every
// decision. With the real CUDA libraries, a run becomes a recording. With the emulated platform
// (emulated/), whose libraries act as a GPU but compute nothing, it becomes a plan. Both run the
// same host code, so they allocate the same, including the workspaces of all operators.
//
// Which of the two it is depends on how the process was started (emulated/README.md,
// "Redirection"); see OnEmulatedPlatform().
//
// Call it on the run's thread. Every thread that allocates calls the tracker.
#pragma once

#include "trainer/backends/backend.h"

namespace vramscope::trainer {

// Returns whether this process was started on the emulated platform.
bool OnEmulatedPlatform();

// Declares that the process has the CUDA libraries of a real GPU, so that runs are recordings. Call
// it first. Tests without a GPU call it although they have the emulated platform's libraries.
void UseInstalledGpu();

// Exists once per process. If libtorch_cuda cannot be loaded, Start() returns kFailedPrecondition.
Backend& CudaBackend();

}  // namespace vramscope::trainer
