// Lengths of micro-batches as settings write them.
//
//   ASSIGN_OR_RETURN(auto ranges, ParseLengths("400,1536,256-1024"));
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>
#include <vector>

namespace vramscope::run {

// One length where low and high are equal.
struct LengthRange {
  int low = 0, high = 0;
};
// Numbers between commas, ranges ("256-1024" or "256..1024") in between: each from 1 to 2^20, at
// most 4096 of them; nothing for an empty text.
absl::StatusOr<std::vector<LengthRange>> ParseLengths(std::string_view text);

}  // namespace vramscope::run
