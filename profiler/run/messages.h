// Makes foreign text safe for error messages on a terminal (short, without control characters) and
// for protobuf (UTF-8).
#pragma once

#include <string>
#include <string_view>

namespace vramscope::run {

// Returns the text in double quotes, escaped as in JSON, and cut off after 200 bytes.
std::string Quoted(std::string_view text);

// Returns the text as plain ASCII, cut off after `most` bytes. Other characters become '?'.
std::string Printable(std::string_view text, size_t most);

// Replaces bytes that are not UTF-8 by U+FFFD. A file name may contain such bytes, but a protobuf
// string must not.
std::string ValidUtf8(std::string_view text);

// Removes the bracket from "[json.exception.parse_error.101] parse error at line 1 ...".
std::string_view WithoutTag(std::string_view what);

}  // namespace vramscope::run
