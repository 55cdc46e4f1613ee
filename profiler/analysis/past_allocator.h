// Memory that is allocated directly from the driver, bypassing the caching allocator: buffers of
// NCCL, memory that a library requests from CUDA itself. It uses GPU memory in addition to what the
// allocator reserves, and the GPU must have room for both.
//
//   const GpuUse most = MostUsed(trace, curves, FindPeak(trace, curves));
//   const uint64_t needed = most.sum() + trace.info.device.context_bytes;
//
// Known if the driver's allocations were recorded (CUPTI; not in a plan with --no-activities). For
// a trace of one device. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// Rows of the activities: the driver's allocations of device memory outside the allocator's
// segments, and all of the driver's frees, ordered by time.
std::vector<uint32_t> PastAllocatorRows(const trace::Trace& trace);

// The reserved memory and the memory that bypasses the allocator, at the time when their sum is
// highest. Reads every activity once.
GpuUse MostUsed(const trace::Trace& trace, const MemoryCurves& curves, const Peak& peak);

}  // namespace vramscope::analysis
