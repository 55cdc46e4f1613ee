// Reconstructs the memory of a program without Python, which has no allocator history, from its
// driver allocations. Each allocation becomes a segment with one block.
#pragma once

#include "profiler/program/activity_file.h"
#include "profiler/recording/recording.h"

namespace vramscope::program {

// `origin_ns`: time 0 on the activities' clock. Pure.
recording::Recording DriverMemory(const ActivityFile& file, int64_t origin_ns);

}  // namespace vramscope::program
