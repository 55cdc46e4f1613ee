// Entry functions for values that users type in the window and after options.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Lines: a time (--at), then the fields of "Open part of a recording".
void Typed(const uint8_t* data, size_t size);
// A list of published experiments (resources/experiments).
void Experiments(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
