// Whether declarations hang together, before anybody reads them: keys that a run.json can hold,
// defaults that are allowed, rules and rows that name what is there.
//
//   absl::Status status = CheckCatalogue(DeclaredCatalogue());   // "a.b: \"a\" is a key itself..."
//
// Pure function; thread-safe.
#pragma once

#include <absl/status/status.h>

#include "profiler/run/catalogue.h"

namespace vramscope::run {

// kInvalidArgument: the first thing that is wrong, with the technique that says it.
absl::Status CheckCatalogue(const Catalogue& catalogue);

}  // namespace vramscope::run
