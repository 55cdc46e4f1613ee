// Blocks and what is free between them, laid out over segments. Internal to this folder.
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

// Fills the blocks of `segments`, which have none: `used` and, between them, what is free; of an
// expandable segment only where `mapped` says so. All three by (device, address). Blocks that lie
// in no segment or overlap the one before are left out.
void LayOut(std::vector<SegmentState>& segments, std::span<const PlacedBlock> used,
            std::span<const MappedRange> mapped);

}  // namespace vramscope::recording
