// Memory that libraries (NCCL, for example) allocate directly from the driver, bypassing the
// caching allocator. The GPU must have room for this memory and for
// what the allocator reserves.
//
//   const GpuUse most = MostUsed(trace, curves, FindPeak(trace, curves));
//   const uint64_t needed = most.sum() + trace.info.device.context_bytes;
//
// Finds nothing if the trace lacks the driver's allocations, which CUPTI records (a plan with
// --no-activities lacks them). The trace must contain one device. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// Returns rows of Trace::activities, ordered by time: the driver's allocations of device memory
// outside the allocator's segments, and all frees by the driver.
std::vector<uint32_t> PastAllocatorRows(const trace::Trace& trace);

// The reserved memory and the memory that bypasses the allocator, at the time when their sum is
// highest. Reads every activity once.
GpuUse MostUsed(const trace::Trace& trace, const MemoryCurves& curves, const Peak& peak);

}  // namespace vramscope::analysis
