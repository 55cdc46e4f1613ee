// Text functions that the exporters share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::exporters {

// Cleans a name for a JSON string as Kineto does. Backslashes become slashes, line ends are
// removed, quotes are escaped, and a name with other unprintable characters becomes "unknown".
// Unlike Kineto, keeps printable UTF-8.
std::string CleanJsonText(std::string_view text);

// Replaces every byte that is not part of well-formed UTF-8 by U+FFFD.
std::string ValidUtf8(std::string_view text);

// Escapes text for elements and quoted attributes of XML and HTML. The result is well-formed UTF-8
// without characters that XML 1.0 forbids.
std::string XmlText(std::string_view text);

// Formats nanoseconds as microseconds with three decimals: 1234567 is "1234.567".
std::string Microseconds(int64_t ns);

}  // namespace vramscope::exporters
