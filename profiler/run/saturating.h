// Sums of sizes that a file states: what would not fit 64 bits stays at the most that does, so that
// a hostile file's totals are not small again.
#pragma once

#include <cstdint>

namespace vramscope::run {

constexpr uint64_t AddSaturating(uint64_t a, uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

}  // namespace vramscope::run
