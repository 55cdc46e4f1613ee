// Threads that poll, brought to the virtual clock. PyTorch's NCCL watchdog sleeps 100 ms of the
// wall clock, asks whether collectives are over, and lets go of their tensors: how often it comes
// by while a step is planned depends on the computer's load, and with it the memory of the next
// step. So its sleep is made a wait for virtual time:
//   - the timed waits of the library that it runs in are turned to a function here (PaceWaitsOf,
//   from libnccl);
//   - every 100 ms of virtual time the thread that launches work gives such threads a turn, and
//   goes on when they are back
//     in their wait (GiveTurns);
//   - what they see is the clock as it was at that moment, however late they ask.
//
// Thread-safe.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Of the shared object that this address lies in (a return address will do). Once is enough.
VRAMSCOPE_EMULATED_API void PaceWaitsOf(const void* address);

// By the thread that launches, with no lock held; now: the clock.
void GiveTurns(int64_t now);

// Whether the calling thread is such a thread, and what time it sees.
bool IsPaced(int64_t* time);
// It got an answer that it may not like to hear for ever: a loop without waits is let go in the
// end.
void PacedAsked(int64_t ready);

}  // namespace vramscope::emulated
