// Lengths of micro-batches as written in settings.
//
//   ASSIGN_OR_RETURN(auto ranges, ParseLengths("400,1536,256-1024"));
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>
#include <vector>

namespace vramscope::run {

// A single length has low equal to high.
struct LengthRange {
  int low = 0, high = 0;
};
// Parses numbers and ranges ("256-1024" or "256..1024"), separated by commas. Numbers are from 1 to
// 2^20, and there are at most 4096 entries. Returns an empty list for an empty text.
absl::StatusOr<std::vector<LengthRange>> ParseLengths(std::string_view text);

}  // namespace vramscope::run
