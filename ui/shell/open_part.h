// Parses the fields of the dialog "Open part of a recording". Does not use Qt.
//
//   ASSIGN_OR_RETURN(OpenOptions part, ParsePart({.last_entry = "2 M", .from = "1.5 s"}));
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "profiler/importers/open.h"

namespace vramscope::ui {

struct PartText {
  int device = -1;                      // -1: all devices
  std::string first_entry, last_entry;  // "", "100000", "100,000", "2 M", "500 k"; counted from 0
  std::string from, to;                 // "", "1.5 s", "200 ms", "2 min"; since the first entry
};

// Returns kInvalidArgument for an invalid field. The message names the field and gives examples.
absl::StatusOr<importers::OpenOptions> ParsePart(const PartText& text);

}  // namespace vramscope::ui
