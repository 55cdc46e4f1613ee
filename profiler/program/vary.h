// Values of one of a program's own arguments: what `--vary` takes.
//
//   ASSIGN_OR_RETURN(Variation batch, ParseVariation("--batch-size=1..64"));
//   ASSIGN_OR_RETURN(std::vector<std::string> words, WithValue(command, batch.name, "8"));
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::program {

struct Variation {
  std::string name;                 // as it was given: "batch", "--batch-size"
  std::vector<std::string> values;  // of a range doubled from its first to its last one
  bool is_range = false;            // then everything between two values is one, too
};

// NAME=A..B (whole numbers) or NAME=V,V,V. kInvalidArgument says what is wrong.
absl::StatusOr<Variation> ParseVariation(std::string_view text);

// The command with the value in place of {NAME}; else behind the argument NAME or --NAME; else, of
// a NAME that begins with "-", at the end. kInvalidArgument: it has no such place.
absl::StatusOr<std::vector<std::string>> WithValue(const std::vector<std::string>& command,
                                                   const std::string& name,
                                                   const std::string& value);

}  // namespace vramscope::program
