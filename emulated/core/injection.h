// The library that CUDA_INJECTION64_PATH names. Like a driver, it is loaded once, when the process
// first uses a GPU, and its InitializeInjection is called.
#pragma once

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Call without locks held: the library may call CUDA.
VRAMSCOPE_EMULATED_API void LoadInjection();

}  // namespace vramscope::emulated
