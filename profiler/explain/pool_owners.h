// Who the private pools of a device are for (torch.cuda.graph, torch.cuda.MemPool, a serving
// engine's sleep mode), as the stacks of what was allocated in them say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/explain/explain.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

// One for every private pool, by its id. A pool whose stacks say nothing, or a file
// without stacks, is named after the kind that its id tells: a capture's, or one that was made.
std::vector<PoolOwner> PoolOwnersOf(const trace::Trace& trace);

// "0.2": the two numbers of segment_pool_id.
std::string PoolId(uint32_t mempool);

}  // namespace vramscope::explain
