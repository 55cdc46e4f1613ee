// How long a step takes where the host runs ahead of the card.
//
//   digest.last_step_ms = analysis::LastStepMs(trace, summary.steps);
//
// Pure function of an immutable trace; thread-safe.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

// Of the last of `steps`, in milliseconds: from when the card was through with what the step before
// had launched to when it was through with this one's. Where the host waited for it, or the trace
// does not tell what it did, that is the step's `total_ms`. 0: no steps.
double LastStepMs(const trace::Trace& trace, const std::vector<StepRow>& steps);

}  // namespace vramscope::analysis
