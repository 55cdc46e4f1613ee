// Finds the period of a sequence: the number of requests in a training step, if no marks show
// steps.
#pragma once

#include <cstdint>
#include <span>

namespace vramscope::inference {

// The smallest distance at which `values` repeat in their later part, so a different first step or
// incomplete first and last steps do not matter; 0: they do not repeat. Layers repeat too, but only
// the period of a whole step matches nearly all values. Runs in linear time: candidates come from
// hashed windows, and each is checked on a sample.
uint32_t Period(std::span<const uint64_t> values);

}  // namespace vramscope::inference
