// Computes the duration of a step even if the host runs ahead of the GPU.
//
//   digest.last_step_ms = analysis::LastStepMs(trace, summary.steps);
//
// Pure function of an immutable trace; thread-safe.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

// Returns the duration of the last step in milliseconds, or 0 if there are no steps. The step
// begins when the GPU has finished the previous step's work, and ends when it has finished the last
// step's work. If the host waited for the GPU, or if the trace has no GPU activities, returns the
// step's `total_ms`.
double LastStepMs(const trace::Trace& trace, const std::vector<StepRow>& steps);

}  // namespace vramscope::analysis
