// Entry functions for a worker's output, as the window assembles it while it arrives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Frames, assembled on the assembly's thread.
void WorkerAnswers(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
