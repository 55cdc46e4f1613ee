// Entry function for the text of a search or a filter.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void FilterText(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
