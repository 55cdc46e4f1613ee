// The library that CUDA_INJECTION64_PATH names: loaded once, when the process first uses a card,
// and told by its InitializeInjection, as a driver does.
#pragma once

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Without locks held: the library may call CUDA.
VRAMSCOPE_EMULATED_API void LoadInjection();

}  // namespace vramscope::emulated
