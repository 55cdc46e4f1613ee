// The duration of a step when the host runs ahead of the GPU.
//
//   digest.last_step_ms = analysis::LastStepMs(trace, summary.steps);
//
// Pure function of an immutable trace; thread-safe.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

// The duration of the last of `steps`, in milliseconds: from the time when the GPU finished the
// work launched by the step before to the time when it finished this step's work. If the host
// waited for the GPU, or the trace has no activities of it, this is the step's `total_ms`. 0: no
// steps.
double LastStepMs(const trace::Trace& trace, const std::vector<StepRow>& steps);

}  // namespace vramscope::analysis
