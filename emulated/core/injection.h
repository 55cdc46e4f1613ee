// Loads the library that CUDA_INJECTION64_PATH names, as the driver does: once, when the process
// first uses a GPU. Then calls its InitializeInjection.
#pragma once

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Call without locks held: the library may call CUDA.
VRAMSCOPE_EMULATED_API void LoadInjection();

}  // namespace vramscope::emulated
