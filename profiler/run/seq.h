// `seq` as it is written: tokens in a sample, or a stream of lengths. Streams are kept by the
// settings of their own, `lengths` (a list, ranges) and `samples.file` (a histogram), and `seq` is
// then the longest that comes; so there is one place that says what a run's batches are like.
//
//   ASSIGN_OR_RETURN(Seq seq, ParseSeq("400,1536,256-1024"));   // .tokens 1536
//   SeqText(config);                                            // "400,1536,256-1024"
//
// Pure functions but for the reading of a file; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "profiler/run/run_config.h"

namespace vramscope::run {

// "expected tokens in a sample, ...", for whoever got something else.
std::string_view ExpectedSeq();

struct Seq {
  int tokens = 0;       // the longest
  std::string lengths;  // of a list or of ranges, as the key `lengths` has it
  std::string file;     // of a histogram
};
// What is made of digits, commas, dots and dashes is a number, a list or a range; everything else
// the path of a histogram's file, which is read. kInvalidArgument says what is wrong with it.
absl::StatusOr<Seq> ParseSeq(std::string_view text);

// As `--set seq=` takes it.
std::string SeqText(const RunConfig& config);
// The same where there is little room: "512", "400,1536,400", "12 lengths up to 1536", "set.csv up
// to 512" (where samples are cut).
std::string ShortSeqText(const RunConfig& config);

}  // namespace vramscope::run
