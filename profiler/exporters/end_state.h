// The segments with their blocks at the end of a trace, as torch.cuda.memory_snapshot() would list
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
  // Row of the segment; UINT32_MAX: added for a block outside all segments.
  uint32_t segment = UINT32_MAX;
  uint8_t device = 0;
  std::vector<EndBlock> blocks;  // sorted by address, without gaps
};

// Sorted by device and address. A block outside all segments (in a trace without segments) gets a
// segment of its own.
std::vector<EndSegment> EndState(const trace::Trace& trace);

// Whether a free of the block was requested but not completed, because another stream uses it.
inline bool PendingFree(const trace::Trace& trace, uint32_t allocation) {
  return trace.allocations.free_requested_event[allocation] != trace::kNoEvent;
}

}  // namespace vramscope::exporters
