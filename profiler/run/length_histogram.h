// How long the samples of a data set are, from a file of lines "length,count" (the count may be
// left out: 1), and lengths drawn from it.
//
//   ASSIGN_OR_RETURN(LengthHistogram histogram, ReadHistogram("lengths.csv"));
//   int tokens = DrawLength(histogram, seed, 17);   // of sample 17, always the same
//
// Pure functions but for the reading; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

struct LengthHistogram {
  std::vector<int> lengths;       // ascending, each once
  std::vector<uint64_t> samples;  // with this length or a smaller one; as many
};

// Empty lines, and such that begin with '#' or a letter (a title), are skipped. Lengths are from 1
// to 2^20, counts from 0 to 2^40; at most 2^16 lines. kInvalidArgument names the line.
absl::StatusOr<LengthHistogram> ParseHistogram(std::string_view text);
// Of a file of at most 4 MiB.
absl::StatusOr<LengthHistogram> ReadHistogram(const std::string& path);

int DrawLength(const LengthHistogram& histogram, uint64_t seed, uint64_t sample);

}  // namespace vramscope::run
