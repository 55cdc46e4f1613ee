// Entry function for the input of vramscope-worker.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// Reads a stream of frames, with corrected checksums.
void WorkerRequests(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
