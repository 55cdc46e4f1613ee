// Finds the period of a sequence. This is the number of allocations in a training step if no marks
// show steps.
#pragma once

#include <cstdint>
#include <span>

namespace vramscope::inference {

// The smallest distance at which the later part of `values` repeats; 0 if it does not repeat. A
// different first step, or incomplete first and last steps, therefore do not matter. Layers repeat
// too, but only the period of a whole step matches nearly all values. Runs in linear time:
// candidates come from hashed windows, and each is checked on a sample.
uint32_t Period(std::span<const uint64_t> values);

}  // namespace vramscope::inference
