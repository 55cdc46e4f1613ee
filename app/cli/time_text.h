// Parses times as users type them for --at and --time.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string_view>

namespace vramscope::cli {

// Parses "12.5ms", "1.2s", "350us" or "1000ns". A number without a unit is in ns, as in the JSON.
absl::StatusOr<int64_t> ParseTime(std::string_view text);

}  // namespace vramscope::cli
