#include "profiler/exporters/json_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramscope::exporters {
namespace {

// Returns the length of the well-formed UTF-8 (Unicode 15, table 3-7) at the start of `text`, or 0.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint32_t b0 = byte(0), b1 = byte(1);
  if (b0 < 0x80) return 1;
  if (b0 >= 0xC2 && b0 <= 0xDF) return tail(1) ? 2 : 0;
  if (b0 >= 0xE0 && b0 <= 0xEF) {
    const bool overlong = b0 == 0xE0 && b1 < 0xA0;
    const bool surrogate = b0 == 0xED && b1 > 0x9F;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (b0 >= 0xF0 && b0 <= 0xF4) {
    const bool overlong = b0 == 0xF0 && b1 < 0x90;
    const bool too_large = b0 == 0xF4 && b1 > 0x8F;
    return tail(1) && tail(2) && tail(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string CleanJsonText(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = Utf8Length(text.substr(i));
    if (length == 0) return "unknown";
    if (length > 1) {
      clean.append(text, i, length);
    } else if (c == '\\') {
      clean += '/';
    } else if (c == '"') {
      clean += "\\\"";
    } else if (c == '\n' || c == '\r') {
      // drops other control characters
    } else if (c == '\t') {
      clean += ' ';
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      return "unknown";
    } else {
      clean += c;
    }
    i += length;
  }
  return clean;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    valid += length > 0 ? text.substr(0, length) : "\xEF\xBF\xBD";
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return valid;
}

std::string XmlText(std::string_view text) {
  std::string out;
  for (const char c : ValidUtf8(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string Microseconds(int64_t ns) {
  const bool negative = ns < 0;
  const uint64_t magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(ns) : ns;
  return fmt::format("{}{}.{:03}", negative ? "-" : "", magnitude / 1000, magnitude % 1000);
}

}  // namespace vramscope::exporters
