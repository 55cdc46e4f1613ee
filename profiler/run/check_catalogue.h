// Checks the declarations before they are used: a run.json can contain all keys, all defaults are
// allowed values, and rules and toggles name only existing keys.
//
//   absl::Status status = CheckCatalogue(DeclaredCatalogue());   // "a.b: \"a\" is itself a key..."
//
// Pure function; thread-safe.
#pragma once

#include <absl/status/status.h>

#include "profiler/run/catalogue.h"

namespace vramscope::run {

// kInvalidArgument: the first error, with the technique that contains it.
absl::Status CheckCatalogue(const Catalogue& catalogue);

}  // namespace vramscope::run
