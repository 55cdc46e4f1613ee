// A time as typed for --at and --time.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string_view>

namespace vramscope::cli {

// "12.5ms", "1.2s", "350us", "1000ns"; without a unit: nanoseconds, as in the JSON outputs.
absl::StatusOr<int64_t> ParseTime(std::string_view text);

}  // namespace vramscope::cli
