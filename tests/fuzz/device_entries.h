// Entry functions for device files and for the values of --device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void DeviceFile(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
