// Sizes and numbers as text on a command line.
//
//   ASSIGN_OR_RETURN(uint64_t budget, ParseBytes("24GiB"));   // 25769803776
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::run {

// Parses "24GiB", "24564 MiB", "24GB" (decimal), "25.8e9". Units: B, kB, MB, GB, TB (powers of
// 1000) and KiB, MiB, GiB, TiB (powers of 1024), in upper or lower case. At most 2^60 bytes.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

// Read a whole decimal number, and a finite floating-point number. Anything after the number is an
// error.
absl::StatusOr<int64_t> ParseInteger(std::string_view text);
absl::StatusOr<double> ParseNumber(std::string_view text);

// Returns the candidate with the shortest edit distance from `text`; "": none is near, that is,
// more than a third of the letters differ in each.
std::string_view Nearest(std::string_view text, const std::string_view* begin,
                         const std::string_view* end);

// Formats for display: "1.84 GiB"; in KiB below 1 MiB, and in MiB below 1 GiB.
std::string FormatBytes(uint64_t bytes);

}  // namespace vramscope::run
