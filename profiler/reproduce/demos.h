// Demonstrations that are no training run: the allocator's model, or the leak finder, on a small
// story told here. Their quantities are terms of an experiment's expressions like those of a plan.
//
//   ASSIGN_OR_RETURN(Quantities q, Demonstrate("fragmentation"));
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "profiler/reproduce/quantities.h"

namespace vramscope::reproduce {

// "fragmentation": a card of 24 GiB; large blocks come and go, small ones fill them, every other
// one goes; then one is asked for that is smaller than what is free and larger than every hole.
//   fragmentation_fails, fragmentation_fails_with_max_split_size (1: it does), fragmentation_asked,
//   fragmentation_free (reserved and not allocated), fragmentation_largest_hole
// "leak": six steps, each of which keeps its loss and the graph behind it.
//   leak_found (1: it is the first that the finder names), leak_bytes, leak_true_bytes (a step)
// kNotFound: there is no such one.
absl::StatusOr<Quantities> Demonstrate(std::string_view name);

}  // namespace vramscope::reproduce
