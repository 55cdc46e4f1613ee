// Entry function for device code as programs pass it to the emulated platform: fat binaries,
// cubins.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::fuzz {

void DeviceCode(const uint8_t* data, size_t size);

}  // namespace vramscope::fuzz
