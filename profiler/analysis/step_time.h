// The duration of a step when the host runs ahead of the GPU.
//
//   digest.last_step_ms = analysis::LastStepMs(trace, summary.steps);
//
// Pure function of an immutable trace; thread-safe.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

// The duration of the last step, in milliseconds. It lasts from the time when the GPU finished the
// work of the previous step until the GPU finished the work of the last step. If the host waited
// for the GPU, or the trace has no GPU activities, the result is the step's `total_ms`. 0: there
// are no steps.
double LastStepMs(const trace::Trace& trace, const std::vector<StepRow>& steps);

}  // namespace vramscope::analysis
