// Entry functions that call the emulated cuDNN.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Makes a sequence of calls that create, fill, link, read and destroy descriptors and query sizes.
void CudnnDescriptors(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
