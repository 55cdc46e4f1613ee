// Lists the segments and their blocks at the end of a trace, as torch.cuda.memory_snapshot() lists
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct EndBlock {
  static constexpr uint32_t kFree = UINT32_MAX;
  uint64_t address = 0, bytes = 0;
  uint32_t allocation = kFree;  // row of the allocation; kFree: the block is free
};

// A segment at the end of the trace. As in the allocator, every mapped range of an expandable
// segment is a separate entry.
struct EndSegment {
  uint64_t address = 0, bytes = 0;
  // The row in the trace, or UINT32_MAX if the segment was made up for a block outside of all
  // segments.
  uint32_t segment = UINT32_MAX;
  uint8_t device = 0;
  std::vector<EndBlock> blocks;  // sorted by address, without gaps
};

// Returns the segments sorted by device and address. A block outside of all segments gets its own
// segment, as in traces without segments.
std::vector<EndSegment> EndState(const trace::Trace& trace);

// Returns whether the block's free is pending because another stream still uses the block.
inline bool PendingFree(const trace::Trace& trace, uint32_t allocation) {
  return trace.allocations.free_requested_event[allocation] != trace::kNoEvent;
}

}  // namespace vramscope::exporters
