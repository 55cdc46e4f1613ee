// Settings and techniques that would have let a failed request pass. Internal to this folder.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/explain/explain.h"

namespace vramscope::explain {

// Estimates for techniques, from the sizes of the blocks live at the event. `live`: the blocks of
// the device that ran out.
std::vector<WayOut> EstimatedWays(const trace::Trace& trace, const analysis::LiveSet& live,
                                  const OutOfMemory& oom);

// Settings, and the same techniques with their new block sizes, by replay up to the event with the
// memory that the device had then.
absl::StatusOr<std::vector<WayOut>> ReplayedWays(const trace::Trace& trace, const OutOfMemory& oom,
                                                 const OutOfMemoryOptions& options);

}  // namespace vramscope::explain
