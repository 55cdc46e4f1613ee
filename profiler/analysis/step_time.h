// The duration of a step when the host runs ahead of the GPU.
//
//   digest.last_step_ms = analysis::LastStepMs(trace, summary.steps);
//
// Pure function of an immutable trace; thread-safe.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

// The duration of the last step, in milliseconds. The step lasts from the time when the GPU
// finished the previous step's work until it finished the last step's work. If the host
// waited for the GPU, or the trace has no GPU activities, the result is the step's
// `total_ms`. 0: there are no steps.
double LastStepMs(const trace::Trace& trace, const std::vector<StepRow>& steps);

}  // namespace vramscope::analysis
