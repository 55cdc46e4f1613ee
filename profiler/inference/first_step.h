// Gradients that are set to zero, not freed, and optimizer states look alike if they are older than
// the recording. The step that allocated them resembles the recorded steps. Replaying a recorded
// step in the allocator's model, from the state before the first step, places gradients and states
// at their recorded addresses. If the addresses do not agree, the result is discarded.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/inference/persistent_blocks.h"
#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// Separates gradients from states in `persistent` if ClassifyPersistent only found how many there
// are of each (kPersistentGradient). Changes nothing if the replayed step does not lead to the
// recorded addresses, or cannot be replayed (expandable segments, no complete step, no segments).
void SeparateGradientsFromStates(const recording::Recording& recording,
                                 const recording::History& history, const Timeline& timeline,
                                 const Lives& lives, const Labels& labels,
                                 std::vector<Persistent>& persistent);

}  // namespace vramscope::inference
