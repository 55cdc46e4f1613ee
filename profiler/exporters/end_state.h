// What torch.cuda.memory_snapshot() would list at the end of a trace: segments with their blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

struct EndBlock {
  static constexpr uint32_t kFree = UINT32_MAX;
  uint64_t address = 0, bytes = 0;
  uint32_t allocation = kFree;  // row; kFree: in the cache
};

// A live segment; of an expandable one, every stretch of mapped memory is listed by itself, as the
// allocator does.
struct EndSegment {
  uint64_t address = 0, bytes = 0;
  uint32_t segment = UINT32_MAX;  // row; UINT32_MAX: no segment holds the one block in it
  uint8_t device = 0;
  std::vector<EndBlock> blocks;  // by address, without gaps
};

// By device and address. Blocks that no segment holds (a trace that tells nothing of segments) get
// one each.
std::vector<EndSegment> EndState(const trace::Trace& trace);

// Whether the request to free a block of the end has been made already (another stream uses it).
inline bool PendingFree(const trace::Trace& trace, uint32_t allocation) {
  return trace.allocations.free_requested_event[allocation] != trace::kNoEvent;
}

}  // namespace vramscope::exporters
