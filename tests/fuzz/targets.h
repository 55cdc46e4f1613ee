// Lists the fuzz targets: their names, and the function that each calls with an input. The inputs
// of target NAME are in corpus/NAME.
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
