// The layers of a model, derived from the activations that are live at one event. Internal to this
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
  // Activations that checkpointing would not keep: all blocks of each layer except its first one.
  // The largest layer is kept whole.
  base::HashSet<uint32_t> recomputed;
};

// Uses the number in the module's path ("layers.3.mlp"). Where such modules hold little, uses
// repeating call stacks: a layer begins whenever the first of them occurs.
Layers FindLayers(const trace::Trace& trace, const analysis::LiveSet& live);

}  // namespace vramscope::explain
