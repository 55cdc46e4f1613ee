// Distributes blocks and the free ranges between them over segments. Internal to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/recording/recording.h"
#include "profiler/recording/rollback.h"

namespace vramscope::recording {

struct PlacedBlock {
  uint8_t device = 0;
  BlockState block;
};

// Puts the blocks in `used`, and free blocks between them, into `segments`, which are still empty.
// An expandable segment gets blocks only within `mapped`. All three arguments are sorted by
// (device, address). Blocks that are outside all segments or overlap the previous one are left out.
void LayOut(std::vector<SegmentState>& segments, std::span<const PlacedBlock> used,
            std::span<const MappedRange> mapped);

}  // namespace vramscope::recording
