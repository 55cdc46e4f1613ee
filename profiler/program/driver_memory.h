// Reconstructs the memory of a program from its driver allocations. Used for programs without
// Python, which have no allocator history. Each allocation becomes a segment with one block.
#pragma once

#include "profiler/program/activity_file.h"
#include "profiler/recording/recording.h"

namespace vramscope::program {

// `origin_ns`: time 0 on the activities' clock. Pure.
recording::Recording DriverMemory(const ActivityFile& file, int64_t origin_ns);

}  // namespace vramscope::program
