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
  // Activations that checkpointing would not keep. In the largest layer, all are kept; in each
  // other layer, only the first block.
  base::HashSet<uint32_t> recomputed;
};

// Finds layers by the number in the module's path ("layers.3.mlp"). If such modules have few of the
// bytes, finds them by repeating call stacks; a layer then begins whenever the first repeating
// stack occurs.
Layers FindLayers(const trace::Trace& trace, const analysis::LiveSet& live);

}  // namespace vramscope::explain
