// Finds memory that libraries such as NCCL allocate directly from the driver and not from the
// caching allocator. The GPU must have space for this memory in addition to the reserved memory.
//
//   const GpuUse most = MostUsed(trace, curves, FindPeak(trace, curves));
//   const uint64_t needed = most.sum() + trace.info.device.context_bytes;
//
// CUPTI records the driver's allocations. Without these records, as in a plan with --no-activities,
// nothing is found. The trace must contain one device. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// Returns rows of Trace::activities in the order of time: driver allocations of device memory
// outside of the allocator's segments, and all driver frees.
std::vector<uint32_t> PastAllocatorRows(const trace::Trace& trace);

// Returns the reserved memory and the memory outside of the allocator at the time of their highest
// sum. Reads every activity once.
GpuUse MostUsed(const trace::Trace& trace, const MemoryCurves& curves, const Peak& peak);

}  // namespace vramscope::analysis
