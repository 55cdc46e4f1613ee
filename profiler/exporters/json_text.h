// Text functions that the exporters share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::exporters {

// Cleans names for JSON strings as Kineto does: backslashes become slashes, line ends are removed,
// quotes are escaped, and a text with other unprintable characters becomes "unknown". Unlike in
// Kineto, printable UTF-8 is kept.
std::string CleanJsonText(std::string_view text);

// Replaces every byte that is not part of well-formed UTF-8 by U+FFFD.
std::string ValidUtf8(std::string_view text);

// Escapes text for elements and quoted attributes of XML and HTML. The result is well-formed UTF-8
// without characters that XML 1.0 forbids.
std::string XmlText(std::string_view text);

// Formats nanoseconds as microseconds with three decimals: 1234567 is "1234.567".
std::string Microseconds(int64_t ns);

}  // namespace vramscope::exporters
