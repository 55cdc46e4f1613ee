// Memory of a program that has no history of an allocator (one without Python): what the driver was
// asked for, each allocation a segment with one block.
#pragma once

#include "profiler/program/activity_file.h"
#include "profiler/recording/recording.h"

namespace vramscope::program {

// `origin_ns`: time 0 on the activities' clock. Pure.
recording::Recording DriverMemory(const ActivityFile& file, int64_t origin_ns);

}  // namespace vramscope::program
