// Describes all memory of one device at one event. Works also for files with only one state: a
// snapshot without history, or torch.cuda.memory_snapshot().
//
//   for (uint8_t d : trace::DevicesOf(*trace)) Show(StateAtEnd(*trace::OfDevice(trace, d)));
//
// Pure functions of an immutable Trace; thread-safe. A call takes milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "profiler/explain/explain.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct MemoryState {
  uint8_t device = 0;
  trace::EventIndex event = 0;
  // Sums, pools with their owners, segments with holes, and the blocks that pin these segments.
  Fragmentation fragmentation;
  std::vector<SegmentView> segments;  // sorted by address
  // Live blocks by call site, by category and by pool, largest first. Each list adds up to
  // fragmentation.allocated.
  std::vector<analysis::Group> by_site;
  std::vector<analysis::Group> by_category;
  std::vector<analysis::Group> by_pool;  // "large, stream 0", "vLLM: KV cache (private pool 0.2)"
  // Bytes that torch.cuda.empty_cache() would release: cached memory that is not in private pools.
  uint64_t empty_cache_gives = 0;
  std::string headline;  // one or two sentences
};
MemoryState StateAt(const trace::Trace& trace, trace::EventIndex event);
// The state after the last event.
MemoryState StateAtEnd(const trace::Trace& trace);

// Returns for example "large, stream 0". A private pool's name consists of its owner and its id.
std::string PoolName(const Fragmentation::PoolUse& pool);

}  // namespace vramscope::explain
