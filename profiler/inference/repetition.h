// The period of a sequence: how many requests a training step makes, when nothing marks steps.
#pragma once

#include <cstdint>
#include <span>

namespace vramscope::inference {

// The smallest distance at which `values` repeat in their later part (a first step that differs, a
// cut first or last one do not matter); 0: they do not. Layers repeat too, but only the period of
// the whole explains nearly all values. Linear: candidates come from hashed windows, and each is
// checked on a sample.
uint32_t Period(std::span<const uint64_t> values);

}  // namespace vramscope::inference
