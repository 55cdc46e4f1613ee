// Times as text.
//
//   ASSIGN_OR_RETURN(int64_t ns, ParseTime("12.5ms"));   // 12500000
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::run {

// Parses "12.5ms", "1.2s", "350us", "1000ns". Numbers without a unit are nanoseconds, as in JSON.
absl::StatusOr<int64_t> ParseTime(std::string_view text);

std::string FormatMilliseconds(double ms);  // "12.34 ms", "1.50 s", "85.0 us"

}  // namespace vramscope::run
