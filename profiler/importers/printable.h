// Makes text from a file safe to print in a message: at most a given number of bytes, with '?' for
// everything but printable ASCII. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::importers {

inline std::string Printable(std::string_view text, size_t most = 80) {
  std::string out(text.substr(0, most));
  for (char& c : out)
    if (static_cast<uint8_t>(c) < 0x20 || static_cast<uint8_t>(c) >= 0x7f) c = '?';
  return out;
}

}  // namespace vramscope::importers
