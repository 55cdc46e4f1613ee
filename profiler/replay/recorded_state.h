// What a trace says was in memory at an event: segments and their blocks, as a start state of the
// model. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

struct RecordedState {
  std::vector<allocator::CachingAllocator::SnapshotSegment> segments;  // by address
  uint64_t blocks_left_out = 0;  // live blocks that lie in no segment, or over others
};

// Before event `end`. Requests from max_split_size on were given whole blocks, which
// a recording does not always state.
RecordedState StateBefore(const trace::Trace& trace, trace::EventIndex end,
                          const run::AllocConf& conf);

}  // namespace vramscope::replay
