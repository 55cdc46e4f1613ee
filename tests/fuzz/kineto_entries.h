// As trace_entries.h, for Chrome traces of PyTorch's profiler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Bytes as a file; what is read is checked, reconstructed and made a trace, which must take it all.
void Kineto(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
