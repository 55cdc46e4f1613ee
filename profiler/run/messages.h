// Text from outside, made fit for error messages (short, nothing that a terminal obeys) and for
// protobuf (UTF-8). Internal to this folder.
#pragma once

#include <string>
#include <string_view>

namespace vramscope::run {

// In double quotes, escaped as in JSON, cut after 200 bytes.
std::string Quoted(std::string_view text);

// Plain ASCII: everything else becomes '?'; cut after `most` bytes.
std::string Printable(std::string_view text, size_t most);

// Bytes that are not UTF-8 become U+FFFD: a file name may hold any, a protobuf string may not.
std::string ValidUtf8(std::string_view text);

// "[json.exception.parse_error.101] parse error at line 1 ..." without the bracket.
std::string_view WithoutTag(std::string_view what);

}  // namespace vramscope::run
