// Which expandable segments there were: the file has only the ranges that were mapped (segments at
// the end, segment_map and segment_unmap entries), and ranges of one stream, pool and memory pool
// are of one segment. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/recording/recording.h"

namespace vramscope::recording {

// Everything that was ever mapped of one expandable segment.
struct ExpandableRange {
  uint64_t begin = 0, end = 0;
  uint32_t stream = 0;
  uint8_t device = 0;
  trace::Pool pool = trace::Pool::kSmall;
  uint32_t mempool = 0;
  trace::StackId stack;  // of the first segment at its end, where known
};

// By (device, begin), not overlapping.
std::vector<ExpandableRange> ExpandableRanges(const Recording& recording);

}  // namespace vramscope::recording
