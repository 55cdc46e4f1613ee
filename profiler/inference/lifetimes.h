// Finds steps and phases in recordings without any marks of forward and backward, from the times of
// allocations and frees.
//
// Backward frees the blocks that forward saved for it. The number of such blocks rises during
// forward and falls to zero by the end of backward. This rise and fall is called a peak. The
// optimizer runs between two peaks; its temporaries have the sizes of parameters. Gradients are
// allocated during backward and freed together, which ends a step.
#pragma once

#include "profiler/inference/categories.h"
#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// Marks the entries that have no phase yet. Adds steps if there are none.
void MarkFromLifetimes(const recording::Recording& recording, const recording::History& history,
                       const Lives& lives, Timeline& timeline);

// Finds places in backward where forward's sequence of allocations is repeated (checkpointing).
Recomputed FindRecomputed(const recording::History& history, const Lives& lives,
                          const Timeline& timeline);

}  // namespace vramscope::inference
