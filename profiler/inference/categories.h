// Determines the category of each allocation, given the phases. Uses its stack and the times of
// its allocation and free. For blocks that are live over several steps, uses the gradients'
// sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/inference/lives.h"
#include "profiler/inference/stacks.h"
#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// cuBLAS's workspace: 2 x 4096 KiB and 8 x 16 KiB, but 32 MiB on Hopper and later GPUs.
inline constexpr uint64_t kBlasWorkspace = 8'519'680;
inline constexpr uint64_t kHopperWorkspace = 33'554'432;
// The most bytes of a scalar: a loss, its gradient, or a step number. Parameters and their
// gradients are larger.
inline constexpr uint64_t kScalar = 8;

// The parts of backward that recompute forward, found without stacks and sorted by their begin.
using Recomputed = std::vector<std::pair<EntryIndex, EntryIndex>>;

// Fills labels.category, rule and retags.
void Categorize(const recording::Recording& recording, const recording::History& history,
                const Stacks& stacks, const Timeline& timeline, const Lives& lives,
                const Recomputed& recomputed, Labels& labels);

// For a snapshot without history: determines categories from stacks alone.
void CategorizeState(const recording::History& history, const Stacks& stacks, Labels& labels);

}  // namespace vramscope::inference
