// Steps and phases of recordings in which nothing marks forward and backward: from when memory is
// asked for and let go.
//
// What is saved for backward is let go in the opposite order, so that the number of such blocks
// rises through forward and falls to nothing by the end of backward: a hump. Between two humps is
// the optimizer, whose temporaries have the sizes of parameters. Gradients are made all through
// backward and dropped together: the end of a step.
#pragma once

#include "profiler/inference/categories.h"
#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// Marks what has no phase yet, and adds steps where there are none.
void MarkFromLifetimes(const recording::Recording& recording, const recording::History& history,
                       const Lives& lives, Timeline& timeline);

// Where forward's sequence of requests comes again inside backward (checkpointing).
Recomputed FindRecomputed(const recording::History& history, const Lives& lives,
                          const Timeline& timeline);

}  // namespace vramscope::inference
