// Entry functions over device files and over devices as --device takes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void DeviceFile(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
