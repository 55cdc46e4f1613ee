// Makes an input readable by path and from its start: standard input and compressed files are
// unpacked into a temporary file that has no name and vanishes with the program.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace vramscope::cli {

// A path to open in place of `path` (`-`: standard input): itself when it is a plain file. Reading
// standard input twice gives the same file. Errors as ReadText() in input.h.
absl::StatusOr<std::string> LocalFile(const std::string& path);

}  // namespace vramscope::cli
