// Device code as programs hand it over: a cubin (an ELF file), a fat binary, PTX. What a kernel's
// code says about it decides occupancy, and that the sizes of scratch buffers.
//
// Pure. Images are hostile input: nothing is read beyond the lengths that they state, and these are
// capped.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "emulated/core/api.h"
#include "emulated/core/kernels.h"

namespace vramscope::emulated {

// How long an image in memory is by what it says itself; 0: it does not say (PTX, or nothing
// known).
VRAMSCOPE_EMULATED_API size_t ImageBytes(const void* image);

}  // namespace vramscope::emulated
