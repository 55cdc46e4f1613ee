// What the private pools of a device are used for (torch.cuda.graph, torch.cuda.MemPool, a serving
// engine's sleep mode), derived from the call stacks of the allocations in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/explain/explain.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

// One entry for every private pool, sorted by id. Where the stacks reveal nothing, the name is the
// kind that the pool's id implies: a graph capture or another private pool.
std::vector<PoolOwner> PoolOwnersOf(const trace::Trace& trace);

// "0.2": the two numbers of segment_pool_id.
std::string PoolId(uint32_t mempool);

}  // namespace vramscope::explain
