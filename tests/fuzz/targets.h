// The names of the fuzz targets, and the functions that run on an input. corpus/NAME contains the
// inputs of target NAME.
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
