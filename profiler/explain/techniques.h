// What techniques of saving memory would change of a trace that ran out of it: which blocks become
// smaller or go, by the blocks that are there, and what comes in addition. Internal to this folder.
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
  // By AllocationId: what is asked for instead; 0: the block is not made.
  std::vector<uint64_t> bytes;
  uint64_t request = 0;     // what the request that failed asks for; 0: it is not made
  uint64_t extra = 0;       // what comes in addition
  uint64_t frees = 0;       // at that moment, less what comes in addition
  bool everywhere = false;  // `bytes` holds for the whole trace, and not for what lives then alone
};

// Those that change something at that moment. `live`: of the device that ran out.
std::vector<Technique> TechniquesFor(const trace::Trace& trace, const analysis::LiveSet& live,
                                     const OutOfMemory& oom);

}  // namespace vramscope::explain
