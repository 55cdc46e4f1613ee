// Finds the period of a sequence: in unmarked recordings, the number of allocations per
// step.
#pragma once

#include <cstdint>
#include <span>

namespace vramscope::inference {

// Returns the smallest distance d at which the second half of `values` equals the values d places
// before, or 0 if there is none. Incomplete first and last steps hardly matter. Layers repeat too,
// but only the period of a whole step matches nearly all values. Runs in linear time: candidates
// come from hashed windows, and each is checked on a sample.
uint32_t Period(std::span<const uint64_t> values);

}  // namespace vramscope::inference
