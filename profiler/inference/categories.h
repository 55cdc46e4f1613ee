// What each allocation is, given the phases: from its stack, from when it was made and let go, and
// for what stays over steps from the sizes of the gradients.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/lives.h"
#include "profiler/inference/stacks.h"
#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// cuBLAS: 4096 KiB twice and 16 KiB eight times; 32 MiB where the GPU is a Hopper or later.
inline constexpr uint64_t kBlasWorkspace = 8'519'680;
inline constexpr uint64_t kHopperWorkspace = 33'554'432;
// Bytes, at most: a loss, its gradient, a step's number. Neither a parameter's nor its gradient's
// size.
inline constexpr uint64_t kScalar = 8;

// Backward's parts in which forward is run again, where stacks do not say it. By begin.
using Recomputed = std::vector<std::pair<EntryIndex, EntryIndex>>;

// Fills labels.category, rule and retags.
void Categorize(const recording::Recording& recording, const recording::History& history,
                const Stacks& stacks, const Timeline& timeline, const Lives& lives,
                const Recomputed& recomputed, Labels& labels);

// Of a state: what was there at one moment, without anything that happened. From stacks alone.
void CategorizeState(const recording::History& history, const Stacks& stacks, Labels& labels);

}  // namespace vramscope::inference
