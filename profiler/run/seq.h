// The setting `seq`: the tokens in a sample, or a stream of lengths. A stream is stored in other
// settings: `lengths` (a list or ranges) or `samples.file` (a histogram). `seq` is then the longest
// length.
//
//   ASSIGN_OR_RETURN(Seq seq, ParseSeq("400,1536,256-1024"));   // .tokens 1536
//   SeqText(config);                                            // "400,1536,256-1024"
//
// Pure functions, except that ParseSeq() may read a file; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/run/run_config.h"

namespace vramscope::run {

// Returns the error text for values that are not allowed: "expected one of these: ...".
std::string_view ExpectedSeq();

struct Seq {
  int tokens = 0;       // the longest length
  std::string lengths;  // a list or ranges, as in the key `lengths`
  std::string file;     // file of a histogram
};
// Reads a number, a list or a range: a text of digits, commas, dots and dashes. Any other text is
// the path of a histogram file, which is read, too. kInvalidArgument describes the error.
absl::StatusOr<Seq> ParseSeq(std::string_view text);

// Returns the run's `seq` in the syntax of `--set seq=`.
std::string SeqText(const RunConfig& config);
// Returns a short form: "512", "400,1536,400", "12 lengths up to 1536", "set.csv up to 512" (longer
// samples are cut to 512).
std::string ShortSeqText(const RunConfig& config);

}  // namespace vramscope::run
