// Reads the lengths of a data set's samples from a file of lines "length,count" (a missing count is
// 1), and draws lengths of samples from them.
//
//   ASSIGN_OR_RETURN(LengthHistogram histogram, ReadHistogram("lengths.csv"));
//   int tokens = DrawLength(histogram, seed, 17);   // the same for sample 17 in every call
//
// Pure functions, except that ReadHistogram() reads a file; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

struct LengthHistogram {
  std::vector<int> lengths;       // ascending, without duplicates
  std::vector<uint64_t> samples;  // cumulative counts, one per length
};

// Skips empty lines, and comments and titles: lines that begin with '#' or a letter. Lengths are
// from 1 to 2^20, counts from 0 to 2^40; at most 2^16 lines. kInvalidArgument names the line.
absl::StatusOr<LengthHistogram> ParseHistogram(std::string_view text);
// The file may have at most 4 MiB.
absl::StatusOr<LengthHistogram> ReadHistogram(const std::string& path);

int DrawLength(const LengthHistogram& histogram, uint64_t seed, uint64_t sample);

}  // namespace vramscope::run
