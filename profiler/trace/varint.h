// Protocol-buffer varints and zigzag, for the columns of an event batch. Only for the project's own
// formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vramscope::trace {

constexpr uint64_t ZigZag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
constexpr int64_t UnZigZag(uint64_t v) { return static_cast<int64_t>((v >> 1) ^ (~(v & 1) + 1)); }

inline void PutVarint(std::string& out, uint64_t v) {
  char bytes[10];
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) bytes[n++] = static_cast<char>(v | 0x80);
  bytes[n++] = static_cast<char>(v);
  out.append(bytes, n);
}

// Reads one varint from [p, end) and advances p past it. Returns false if the varint is cut off or
// longer than 10 bytes.
inline bool GetVarint(const unsigned char*& p, const unsigned char* end, uint64_t& v) {
  if (p != end && *p < 0x80) {
    v = *p++;
    return true;
  }
  uint64_t result = 0;
  for (int shift = 0; shift < 70 && p != end; shift += 7) {
    const uint64_t byte = *p++;
    result |= (byte & 0x7F) << shift;
    if (byte < 0x80) {
      v = result;
      return true;
    }
  }
  return false;
}

}  // namespace vramscope::trace
