// Derives the layers of a model from the activations that are live at one event. Internal to this
// folder.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/base/hash_map.h"

namespace vramscope::explain {

struct Layers {
  size_t count = 0;             // 0: no layers found
  std::vector<uint64_t> bytes;  // activations of each layer
  // The activations that checkpointing would not keep: all blocks of each layer except its first.
  // All blocks of the largest layer are kept.
  base::HashSet<uint32_t> recomputed;
};

// Finds layers by the number in a module's path ("layers.3.mlp"). If such modules have few of the
// bytes, finds layers by repeated call stacks. Each occurrence of the first such stack begins a new
// layer.
Layers FindLayers(const trace::Trace& trace, const analysis::LiveSet& live);

}  // namespace vramscope::explain
