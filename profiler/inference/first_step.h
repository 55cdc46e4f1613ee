// Gradients that stay (filled with zeros, not dropped) and optimizer states look alike when they
// are older than the recording. But the step that made them was one like those recorded: run
// through the allocator's model from what was there before it, its gradients and states come to lie
// where they are. That also says whether to believe it: addresses agree, or they do not.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/categories.h"
#include "profiler/inference/persistent_blocks.h"
#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// Tells gradients from states among `kept` where ClassifyPersistent could only say how many there
// are of each (kPersistentGradient). Leaves all as it is where the step run again does not come to
// the recorded addresses, or cannot be run (expandable segments, no whole step, no segments).
void SeparateGradientsFromStates(const recording::Recording& recording,
                                 const recording::History& history, const Timeline& timeline,
                                 const Lives& lives, const Labels& labels,
                                 std::vector<Persistent>& kept);

}  // namespace vramscope::inference
