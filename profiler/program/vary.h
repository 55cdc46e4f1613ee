// Values of one of the program's own arguments, for `--vary`.
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

#include "profiler/program/request.h"

namespace vramscope::program {

struct Variation {
  std::string name;                 // as the user wrote it: "batch", "--batch-size"
  std::vector<std::string> values;  // a range contains its first value, doubled up to its last
  bool is_range = false;            // values between two of these are allowed, too
};

// Parses NAME=A..B (whole numbers) or NAME=V,V,V. kInvalidArgument states what is wrong.
absl::StatusOr<Variation> ParseVariation(std::string_view text);

// Puts the value in place of {NAME} or, if there is none, in place of the value of the argument
// NAME or --NAME. If there is no such argument either, appends NAME and the value, provided that
// NAME begins with "-". Otherwise returns kInvalidArgument.
absl::StatusOr<std::vector<std::string>> WithValue(const std::vector<std::string>& command,
                                                   const std::string& name,
                                                   const std::string& value);
// Does the same with the arguments of a request from the window.
absl::StatusOr<Request> RequestWithValue(const Request& request, const std::string& name,
                                         const std::string& value);

}  // namespace vramscope::program
