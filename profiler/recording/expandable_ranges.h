// Finds the expandable segments. A file only shows ranges that were mapped: in the final segments,
// and in segment_map and segment_unmap entries. Ranges of the same stream, pool and memory pool
// belong to one segment. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/recording/recording.h"

namespace vramscope::recording {

// All addresses of one expandable segment that were ever mapped.
struct ExpandableRange {
  uint64_t begin = 0, end = 0;
  uint32_t stream = 0;
  uint8_t device = 0;
  trace::Pool pool = trace::Pool::kSmall;
  uint32_t mempool = 0;
  trace::StackId stack;  // stack of the range's first segment at the end, if known
};

// Returns the ranges, sorted by (device, begin). They do not overlap.
std::vector<ExpandableRange> ExpandableRanges(const Recording& recording);

}  // namespace vramscope::recording
