// The effect of memory-saving techniques on a trace that ran out of memory: blocks that become
// smaller or disappear, and additional allocations. Internal to this folder.
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
  // The new requested sizes, indexed by AllocationId. Blocks of size 0 are not allocated.
  std::vector<uint64_t> bytes;
  uint64_t request = 0;  // new size of the failed request; 0: no request
  uint64_t extra = 0;    // bytes that are additionally allocated
  uint64_t frees = 0;    // bytes freed at the event, minus `extra`
  // Whether `bytes` has new sizes for the whole trace or only for blocks live at the event.
  bool everywhere = false;
};

// Returns the techniques that change memory at the event. `live` contains the blocks of the device
// that ran out of memory.
std::vector<Technique> TechniquesFor(const trace::Trace& trace, const analysis::LiveSet& live,
                                     const OutOfMemory& oom);

}  // namespace vramscope::explain
