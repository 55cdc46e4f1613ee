// Entry functions for values that users type in the window and after options.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Reads a time (--at) from the first line, and the fields of "Open part of a recording" from the
// next lines.
void Typed(const uint8_t* data, size_t size);
// Reads a list of published experiments (resources/experiments).
void Experiments(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
