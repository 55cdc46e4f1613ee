// Entry function over what vramscope-worker is told.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

// A stream of frames; right checksums are set.
void WorkerRequests(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
