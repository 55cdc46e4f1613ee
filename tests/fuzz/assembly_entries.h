// Entry functions over what a worker sends, as the window puts it together while it comes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Frames, on the thread that puts them together.
void WorkerAnswers(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
