// Sizes and numbers as text on a command line.
//
//   ASSIGN_OR_RETURN(uint64_t budget, ParseBytes("24GiB"));   // 25769803776
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::run {

// "24GiB", "24564 MiB", "24GB" (decimal), "25769803776", "25.8e9". Units: B, kB, MB, GB, TB (powers
// of 1000), KiB, MiB, GiB, TiB (powers of 1024), in upper or lower case. At most 2^60 bytes.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

// Reads a whole decimal number, or a finite floating-point number. Anything after the number is an
// error.
absl::StatusOr<int64_t> ParseInteger(std::string_view text);
absl::StatusOr<double> ParseNumber(std::string_view text);

// The candidate nearest to `text` by edit distance; empty if no candidate is near: in each, more
// than a third of the letters differ.
std::string_view Nearest(std::string_view text, const std::string_view* begin,
                         const std::string_view* end);

// "1 entry", "1234 entries".
std::string Counted(uint64_t count, std::string_view one, std::string_view many);

// "1.84 GiB", for display. Below 1 MiB in KiB, below 1 GiB in MiB.
std::string FormatBytes(uint64_t bytes);

}  // namespace vramscope::run
