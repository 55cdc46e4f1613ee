// Entry function for the device code that programs pass to the emulated platform: fat binaries and
// cubins.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void DeviceCode(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
