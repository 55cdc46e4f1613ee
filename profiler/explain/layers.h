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
  // Activations that checkpointing would not keep: in every layer except the
  // largest, all blocks after the first.
  base::HashSet<uint32_t> recomputed;
};

// Finds layers by the number in a module's path ("layers.3.mlp"). If such modules have few of the
// bytes, finds layers by call stacks that repeat: each occurrence of the first such stack begins a
// new layer.
Layers FindLayers(const trace::Trace& trace, const analysis::LiveSet& live);

}  // namespace vramscope::explain
