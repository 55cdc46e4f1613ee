// Tells gradients from optimizer states. If both are older than the recording (gradients are set to
// zero, not freed), they look alike. But the step that allocated them resembles the recorded steps.
// If a recorded step is replayed in the allocator's model from the state before the first step, the
// gradients and states should get their recorded addresses. If they do not, the result is
// discarded.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/inference/persistent_blocks.h"
#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// Separates gradients from states in `persistent` if ClassifyPersistent found only their numbers
// (kPersistentGradient). Changes nothing if the addresses disagree, or if no step can be replayed:
// with expandable segments, without segments, or without a complete step.
void SeparateGradientsFromStates(const recording::Recording& recording,
                                 const recording::History& history, const Timeline& timeline,
                                 const Lives& lives, const Labels& labels,
                                 std::vector<Persistent>& persistent);

}  // namespace vramscope::inference
