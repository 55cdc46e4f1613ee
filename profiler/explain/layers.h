// Layers of a model, as far as the activations of a moment show them. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/base/hash_map.h"

namespace vramscope::explain {

struct Layers {
  size_t count = 0;             // 0: none are to be seen
  std::vector<uint64_t> bytes;  // of each one's activations
  // Activations that checkpointing would not keep: all of a layer but the first block made in it;
  // the largest layer stays whole.
  base::HashSet<uint32_t> recomputed;
};

// By the number in the module's path ("layers.3.mlp"); where those hold little, by call stacks that
// come again and again: each time the first of them does, a layer begins.
Layers FindLayers(const trace::Trace& trace, const analysis::LiveSet& live);

}  // namespace vramscope::explain
