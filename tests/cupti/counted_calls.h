// While `counting` is set, counts the thread's locks, allocations and reservations of disk space.
#pragma once

#include <atomic>

namespace vramscope::testing {

extern thread_local bool counting;
extern std::atomic<int> locks, allocations, reservations;

}  // namespace vramscope::testing
