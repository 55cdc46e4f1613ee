// How techniques that save memory would change a trace that ran out of memory: which of its blocks
// become smaller or are not allocated, and what is allocated in addition. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/explain/explain.h"

namespace vramscope::explain {

struct Technique {
  std::string name;
  std::string formula;  // "half of 9.50 GiB of activations alive then"
  // By AllocationId: the new requested size; 0: the block is not allocated.
  std::vector<uint64_t> bytes;
  uint64_t request = 0;  // new size of the failed request; 0: it is not made
  uint64_t extra = 0;    // bytes allocated in addition
  uint64_t frees = 0;    // at the event, minus `extra`
  // `bytes` applies to the whole trace, not only to blocks live at the event.
  bool everywhere = false;
};

// Techniques that change memory at the event. `live`: the blocks of the device that ran out.
std::vector<Technique> TechniquesFor(const trace::Trace& trace, const analysis::LiveSet& live,
                                     const OutOfMemory& oom);

}  // namespace vramscope::explain
