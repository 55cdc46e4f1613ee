// Which blocks of a process's history its kernels, copies and fills were given addresses in.
//
// A block is found by the order of things and not by times: an operand says how many requests the
// program had made of its allocator when it gave the address, and what was there after so many is
// what it meant, however often the address has been another block's before and since. A graph's
// work was given its addresses when it was captured.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "profiler/recording/recording.h"
#include "profiler/trace/activities.h"

namespace vramscope::program {

inline constexpr uint32_t kNoBlock = std::numeric_limits<uint32_t>::max();

// Of every operand among `rows`, in their order: the row of `history`'s allocations, kNoBlock for
// an address in none. `of_driver`: the history is what the driver was asked for (DriverMemory), and
// requests are the driver's calls among `rows`; `origin_ns` is its time 0 on their clock. Pure.
std::vector<uint32_t> BlocksOfOperands(const std::vector<trace::Activity>& rows,
                                       const recording::Recording& recording,
                                       const recording::History& history, bool of_driver,
                                       int64_t origin_ns);

}  // namespace vramscope::program
