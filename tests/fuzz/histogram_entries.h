// Entry function for ParseHistogram(), which reads the lengths of a data set's samples.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void Histogram(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
