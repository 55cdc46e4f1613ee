#include "emulated/core/device_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace vramscope::emulated {
namespace {

constexpr size_t kLargestImage = size_t{1} << 30;

template <typename T>
T At(const void* image, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(image) + offset, sizeof value);
  return value;
}

}  // namespace

size_t ImageBytes(const void* image) {
  constexpr uint32_t kElf = 0x464c457f, kFatBinary = 0xba55ed50;
  if (image == nullptr) {
    return 0;
  }
  uint64_t bytes = 0;
  switch (At<uint32_t>(image, 0)) {
    case kElf: {
      const uint64_t sections = At<uint64_t>(image, 0x28) +
                                uint64_t{At<uint16_t>(image, 0x3a)} * At<uint16_t>(image, 0x3c);
      const uint64_t segments = At<uint64_t>(image, 0x20) +
                                uint64_t{At<uint16_t>(image, 0x36)} * At<uint16_t>(image, 0x38);
      bytes = std::max(sections, segments);
      break;
    }
    case kFatBinary:
      bytes = At<uint64_t>(image, 8) + At<uint16_t>(image, 6);
      break;
    default:
      break;
  }
  return bytes <= kLargestImage ? bytes : 0;
}

}  // namespace vramscope::emulated
