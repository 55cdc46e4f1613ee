// Entry functions for calls of cuDNN's emulated library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// A sequence of calls: descriptors are created, filled, linked, read and destroyed, and sizes are
// queried.
void CudnnDescriptors(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
