// Entry functions over what programs call cuDNN's emulated library with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// A sequence of calls: descriptors are made, filled, linked, read and let go, and sizes are asked
// for.
void CudnnDescriptors(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
