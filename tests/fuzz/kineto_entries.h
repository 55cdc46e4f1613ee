// Entry functions for Chrome traces of PyTorch's profiler (see trace_entries.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Reads the bytes as a file. Then checks and reconstructs the recording, and converts it to a
// trace. The trace must accept all events.
void Kineto(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
