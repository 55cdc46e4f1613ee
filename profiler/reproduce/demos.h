// Demonstrations: instead of a training run, they give a synthetic sequence of allocations to the
// allocator's model or the leak finder. An experiment's expressions can use the quantities of a
// demonstration like those of a plan.
//
//   ASSIGN_OR_RETURN(Quantities q, Demonstrate("fragmentation"));
//
// Pure functions; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "profiler/reproduce/quantities.h"

namespace vramscope::reproduce {

// "fragmentation": on a GPU of 24 GiB, large blocks are allocated and freed. Small blocks take the
// place of the large blocks, and every other small block is freed. The final request is smaller
// than the free memory but larger than every hole.
//   fragmentation_fails, fragmentation_fails_with_max_split_size (1: it fails),
//   fragmentation_asked, fragmentation_free (reserved and not allocated),
//   fragmentation_largest_hole
// "leak": each of six steps keeps its loss and the loss's graph.
//   leak_found (1: the finder names it first), leak_bytes, leak_true_bytes (per step)
// Returns kNotFound if there is no demonstration of this name.
absl::StatusOr<Quantities> Demonstrate(std::string_view name);

}  // namespace vramscope::reproduce
