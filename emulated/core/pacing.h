// Moves polling threads to the virtual clock. PyTorch's NCCL watchdog sleeps 100 ms of wall time,
// queries whether collectives are done, and releases their tensors. How often it runs while a step
// is planned depends on the load of the computer, and so does the memory of the next step. On a
// real GPU, it runs 0 to 100 ms after a collective ends (on average 50 ms) and then releases the
// tensors in most runs. So the watchdog's sleep becomes a wait for virtual time:
//   - PaceWaitsOf redirects the timed waits of the watchdog's library to a function here. The
//     platform calls PaceWaitsOf when a library that needs libnccl registers its kernels, before
//     its threads start.
//   - The thread that launches work waits until each thread of this library has reached its first
//     wait. Until then, such a thread would see the wall clock.
//   - 50 ms of virtual time after each collective (ExpectProgress), and every 100 ms, the
//     launching thread gives the polling threads a turn and continues when they wait again
//     (GiveTurns).
//   - Pollers always see the time 50 ms before the turn, even if they query the clock later. So the
//     program's work before its first collective does not change the times that pollers see.
//
// Thread-safe.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Paces the pollers of the shared object that contains `address`, such as a return address. If
// `uses` is given, the object must be linked with a library whose name begins with `uses`. Further
// calls have no effect.
VRAMSCOPE_EMULATED_API void PaceWaitsOf(const void* address, const char* uses = nullptr);

// Call when work that pollers query was submitted. The work ends at `done`.
void ExpectProgress(int64_t done);

// The launching thread calls this without locks held. `now` is the time of the clock.
void GiveTurns(int64_t now);

// Call when the clock is reset to 0 for another run in this process.
void StartPaceAgain();

// Returns whether the calling thread is paced. If so, stores the time that it sees.
bool IsPaced(int64_t* time);
// Call when a paced thread found that queried work was not ready. After many such queries, the
// thread's time moves to `ready`, so that a loop without waits ends.
void PacedAsked(int64_t ready);

}  // namespace vramscope::emulated
