// Entry function for files of sample lengths.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void Histogram(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
