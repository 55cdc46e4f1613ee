// Entry functions over what a person types in the window and behind options.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Lines: a moment (--at), then the fields of "Open part of a recording".
void Typed(const uint8_t* data, size_t size);
// A list of published experiments (resources/experiments).
void Experiments(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
