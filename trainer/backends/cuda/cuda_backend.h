// The cuda backend: PyTorch's own libtorch_cuda runs, its caching allocator reports every decision.
// On the real CUDA libraries that is a measured run. On the emulated platform (emulated/: libraries
// that know a card and compute nothing) it is a plan made by the same host code: the same requests,
// scratch of every operator included.
//
// Which of the two it is was settled when the process started (emulated/README.md, "Redirection"):
// OnEmulatedPlatform().
//
// Thread rule: Backend's; the tracker is called from every thread that allocates.
#pragma once

#include "trainer/backends/backend.h"

namespace vramscope::trainer {

// Whether this process was started on the emulated platform.
bool OnEmulatedPlatform();

// Before anything else: from here on the libraries that the process has are a card's that is there,
// and runs are measured, also where they are the emulated platform's (which is how this is tested
// without a card).
void UseCardThatIsThere();

// One a process. Start() says kFailedPrecondition where libtorch_cuda can't be loaded.
Backend& CudaBackend();

}  // namespace vramscope::trainer
