// Checks the declarations for consistency before they are used: keys that a run.json can contain,
// defaults that are allowed, rules and toggles that name existing keys.
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
