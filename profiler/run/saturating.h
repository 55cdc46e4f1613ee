// Adds sizes and times from a file. If the result does not fit into 64 bits, it is the largest
// value: the totals of a malicious file then do not wrap around to small values.
#pragma once

#include <cstdint>

namespace vramscope::run {

constexpr uint64_t AddSaturating(uint64_t a, uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

constexpr int64_t AddSaturating(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? INT64_MIN : INT64_MAX;
}

// Truncates the fraction; NaN becomes 0. Values that are too large become INT64_MAX. (No double
// equals INT64_MAX; the nearest double is larger.)
constexpr int64_t ToInt64(double value) {
  if (value >= 0x1p63) return INT64_MAX;
  if (value < -0x1p63) return INT64_MIN;
  return value == value ? static_cast<int64_t>(value) : 0;
}
constexpr uint64_t ToUint64(double value) {
  if (value >= 0x1p64) return UINT64_MAX;
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

}  // namespace vramscope::run
