// Text pieces that the exporters share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::exporters {

// What Kineto does to names before they go between JSON quotes: backslashes become slashes, line
// ends vanish, quotes are escaped, and a text with anything else that cannot be printed becomes
// "unknown". Unlike Kineto's, printable UTF-8 stays.
std::string CleanJsonText(std::string_view text);

// The text with U+FFFD for every byte that is not part of well-formed UTF-8.
std::string ValidUtf8(std::string_view text);

// Text between tags and in quoted attributes of XML and HTML: well-formed UTF-8, without characters
// that XML 1.0 has no place for.
std::string XmlText(std::string_view text);

// Nanoseconds as microseconds with three decimals: 1234567 is "1234.567".
std::string Microseconds(int64_t ns);

}  // namespace vramscope::exporters
