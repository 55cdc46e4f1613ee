// The fuzz targets: what each does with an input. A folder of corpus/ has the inputs of the same
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vramscope::fuzz {

struct Target {
  const char* name;
  void (*entry)(const uint8_t* data, size_t size);
};
std::span<const Target> Targets();

}  // namespace vramscope::fuzz
