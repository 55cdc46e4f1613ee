// Lists the segments and their blocks at the end of a trace, as torch.cuda.memory_snapshot()
// would.
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
  // Row in the trace; UINT32_MAX: not in the trace, made up for a block outside all segments.
  uint32_t segment = UINT32_MAX;
  uint8_t device = 0;
  std::vector<EndBlock> blocks;  // sorted by address, without gaps
};

// Returns the segments sorted by device and address. A block outside all segments gets a segment of
// its own; this happens in traces without segments.
std::vector<EndSegment> EndState(const trace::Trace& trace);

// Whether a free of the block was requested but not completed, because another stream uses it.
inline bool PendingFree(const trace::Trace& trace, uint32_t allocation) {
  return trace.allocations.free_requested_event[allocation] != trace::kNoEvent;
}

}  // namespace vramscope::exporters
