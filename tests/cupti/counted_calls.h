// Counts what a thread calls: locks, memory allocations, and allocations of disk space.
#pragma once

#include <atomic>

namespace vramscope::testing {

extern thread_local bool counting;
extern std::atomic<int> locks, allocations, reservations;

}  // namespace vramscope::testing
