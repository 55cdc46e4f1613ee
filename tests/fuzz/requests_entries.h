// Entry function for a CSV of allocations and frees.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void Requests(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
