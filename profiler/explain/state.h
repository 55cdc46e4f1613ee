// What is in the memory of one device at one moment, told whole: for files that are a state and no
// run (a snapshot without a history, torch.cuda.memory_snapshot()), and for any moment of a run.
//
//   for (uint8_t d : trace::DevicesOf(*trace)) Show(StateAtEnd(*trace::OfDevice(trace, d)));
//
// Pure functions of an immutable Trace; thread-safe; milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/explain/explain.h"
#include "profiler/trace/trace.h"

namespace vramscope::explain {

struct MemoryState {
  uint8_t device = 0;
  trace::EventIndex event = 0;
  // Sums, pools with their owners (Fragmentation::pools), segments with holes and who pins them.
  Fragmentation fragmentation;
  std::vector<SegmentView> segments;  // by address, piece by piece
  // Who holds the live blocks, most bytes first; each adds up to fragmentation.allocated.
  std::vector<analysis::Group> by_site;
  std::vector<analysis::Group> by_category;
  std::vector<analysis::Group> by_pool;  // "large, stream 0", "vLLM: KV cache (private pool 0.2)"
  // What torch.cuda.empty_cache() would give back: cached, but for what private pools keep.
  uint64_t empty_cache_gives = 0;
  std::string headline;  // one or two sentences
};
MemoryState StateAt(const trace::Trace& trace, trace::EventIndex event);
// The only real moment of a state.
MemoryState StateAtEnd(const trace::Trace& trace);

// "large, stream 0"; of a private pool its owner and its id.
std::string PoolName(const Fragmentation::PoolUse& pool);

}  // namespace vramscope::explain
