// Finds the use of each private pool of a device (torch.cuda.graph, torch.cuda.MemPool, a serving
// engine's sleep mode) from the call stacks of its allocations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/explain/explain.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

// Returns one entry for every private pool, sorted by id. If the stacks do not show the use, the
// pool's id determines the name: "CUDA graph capture" or "private pool".
std::vector<PoolOwner> PoolOwnersOf(const trace::Trace& trace);

// Returns for example "0.2", the two numbers of segment_pool_id.
std::string PoolId(uint32_t mempool);

}  // namespace vramscope::explain
