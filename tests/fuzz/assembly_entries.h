// Entry functions for a worker's output, which the window turns into a trace while it arrives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Assembles the frames on a separate thread, as the window does.
void WorkerAnswers(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
