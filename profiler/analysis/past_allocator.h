// What is taken from the driver past the allocator: buffers of NCCL's, what a library asks CUDA for
// itself. It lies on the card beside what the allocator reserves, and a card must hold both.
//
//   const CardUse most = MostUsed(trace, curves, FindPeak(trace, curves));
//   const uint64_t needed = most.sum() + trace.info.device.context_bytes;
//
// Known where the driver's allocations were told (CUPTI; a plan with --no-activities has none). Of
// a trace of one device. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// Rows of the activities: the driver's allocations of device memory that are no segment of the
// allocator's, and all of its frees, in the order of their time.
std::vector<uint32_t> PastAllocatorRows(const trace::Trace& trace);

// What the allocator has reserved, and what was taken past it, when both together are most. Looks
// at every activity once.
CardUse MostUsed(const trace::Trace& trace, const MemoryCurves& curves, const Peak& peak);

}  // namespace vramscope::analysis
