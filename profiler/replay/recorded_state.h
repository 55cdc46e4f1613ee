// Reads the recorded segments and blocks at an event, as a start state for the model. Internal to
// this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/allocator/caching_allocator.h"
#include "profiler/trace/trace.h"

namespace vramscope::replay {

struct RecordedState {
  std::vector<allocator::CachingAllocator::SnapshotSegment> segments;  // sorted by address
  uint64_t blocks_left_out = 0;  // live blocks outside all segments or overlapping others
};

// Returns the state before event `end`. Assumes that a request of at least max_split_size got a
// whole free block, because some recordings do not contain the size of the block.
RecordedState StateBefore(const trace::Trace& trace, trace::EventIndex end,
                          const run::AllocConf& conf);

}  // namespace vramscope::replay
