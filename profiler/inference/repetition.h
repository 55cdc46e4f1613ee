// Finds the period of a sequence, which yields the allocations per training step without
// marks.
#pragma once

#include <cstdint>
#include <span>

namespace vramscope::inference {

// The smallest distance at which the second half of `values` equals the values before; 0: none. A
// first step that differs, or incomplete first and last steps, have hardly any influence. Layers
// repeat too, but only the period of a whole step matches nearly all values. Runs in linear time:
// candidates come from hashed windows, and each is checked on a sample.
uint32_t Period(std::span<const uint64_t> values);

}  // namespace vramscope::inference
