// Settings and techniques that would have let a failed request pass. Internal to this folder.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/explain/explain.h"

namespace vramscope::explain {

// Estimates the effect of techniques from the sizes of the blocks live at the event. `live`
// contains the blocks of the device that ran out of memory.
std::vector<WayOut> EstimatedWays(const trace::Trace& trace, const analysis::LiveSet& live,
                                  const OutOfMemory& oom);

// Replays the trace with other settings, and with the new block sizes of each technique. In the
// replays, the device has as much memory as it had at the event.
absl::StatusOr<std::vector<WayOut>> ReplayedWays(const trace::Trace& trace, const OutOfMemory& oom,
                                                 const OutOfMemoryOptions& options);

}  // namespace vramscope::explain
