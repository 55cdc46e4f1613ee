// Loads the library in CUDA_INJECTION64_PATH and calls its InitializeInjection. Like the driver,
// does so only once, when the process first uses a GPU.
#pragma once

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Call without locks held: the library may call CUDA.
VRAMSCOPE_EMULATED_API void LoadInjection();

}  // namespace vramscope::emulated
