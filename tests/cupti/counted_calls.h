// What a thread calls while it counts: locks, requests of memory, of room on the disk.
#pragma once

#include <atomic>

namespace vramscope::testing {

extern thread_local bool counting;
extern std::atomic<int> locks, allocations, reservations;

}  // namespace vramscope::testing
