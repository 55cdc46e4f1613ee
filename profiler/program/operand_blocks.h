// Finds the blocks that kernels, memcpys and memsets of a process used as operands.
//
// A block is found by the order of requests, not by time. An operand records how many requests the
// program had made to its allocator when it passed the operand's address. The operand's block is
// the block at this address after that number of requests, even if other blocks had the address
// before or later. For a CUDA graph, the addresses are those passed when the graph was captured.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "profiler/recording/recording.h"
#include "profiler/trace/activities.h"

namespace vramscope::program {

inline constexpr uint32_t kNoBlock = std::numeric_limits<uint32_t>::max();

// Returns the block of every operand in `rows`, in order: a row in the allocations of `history`, or
// kNoBlock. `of_driver`: the history is from DriverMemory, so its requests are the driver calls in
// `rows`. `origin_ns`: the history's time 0, on the clock of `rows`. Pure.
std::vector<uint32_t> BlocksOfOperands(const std::vector<trace::Activity>& rows,
                                       const recording::Recording& recording,
                                       const recording::History& history, bool of_driver,
                                       int64_t origin_ns);

}  // namespace vramscope::program
