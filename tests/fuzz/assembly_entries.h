// Entry functions for a worker's output, which the window assembles while it arrives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Assembles frames on the assembly's thread.
void WorkerAnswers(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
