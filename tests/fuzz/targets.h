// The fuzz targets: the function that each runs on an input. A folder of corpus/ has the inputs of
// the target with its name.
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
