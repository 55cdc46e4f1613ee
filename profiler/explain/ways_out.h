// What would have let a request pass. Internal to this folder.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/explain/explain.h"

namespace vramscope::explain {

// Techniques, by arithmetic over the blocks alive at that moment. `live`: of the device that ran
// out.
std::vector<WayOut> EstimatedWays(const trace::Trace& trace, const analysis::LiveSet& live,
                                  const OutOfMemory& oom);

// Settings, and the same techniques once more with the sizes that they give, by replay up to the
// event with the memory that the device had then.
absl::StatusOr<std::vector<WayOut>> ReplayedWays(const trace::Trace& trace, const OutOfMemory& oom,
                                                 const OutOfMemoryOptions& options);

}  // namespace vramscope::explain
