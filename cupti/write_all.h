// Writes all of `bytes` to a descriptor, even if signals interrupt it or a call writes only a part.
// Returns how many bytes were written: fewer than bytes.size() if the disk is full or fails.
//
//   if (WriteAll(file, text) < text.size()) broken = true;
//
// Takes no lock and allocates nothing.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

namespace vramscope::cupti {

inline size_t WriteAll(int file, std::string_view bytes) {
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t now = write(file, bytes.data() + written, bytes.size() - written);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) break;
    written += static_cast<size_t>(now);
  }
  return written;
}

}  // namespace vramscope::cupti
