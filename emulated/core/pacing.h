// Moves polling threads to the virtual clock. PyTorch's NCCL watchdog sleeps 100 ms of wall time,
// queries whether collectives are done, and releases their tensors. How often it runs while a step
// is planned depends on the computer's load, and so does the memory of the next step. On a real
// GPU, too, it runs 0 to 100 ms after a collective ends, 50 ms on average; in most runs the tensors
// are released from that time on. So the watchdog's sleep becomes a wait for virtual time:
//   - PaceWaitsOf redirects the timed waits of the watchdog's library to a function here. It is
//     called when a library that needs libnccl registers its kernels, before its threads start.
//   - The thread that launches work waits until each thread of this library has reached its first
//     wait. Before that, such a thread would see the wall clock.
//   - 50 ms of virtual time after each collective (ExpectProgress), and every 100 ms, the
//     launching thread gives the polling threads a turn and continues when they wait again
//     (GiveTurns).
//   - Pollers see the clock as it was 50 ms before the turn, however late they query it. So the
//     program's work before its first collective does not change what they see.
//
// Thread-safe.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Paces the pollers of the shared object that contains this address (a return address works); with
// `uses`, only if the object is linked with a library whose name begins with `uses`. One call is
// enough.
VRAMSCOPE_EMULATED_API void PaceWaitsOf(const void* address, const char* uses = nullptr);

// Call when work was submitted that pollers query and that ends at `done`.
void ExpectProgress(int64_t done);

// Called by the thread that launches, without locks held. `now` is the clock.
void GiveTurns(int64_t now);

// Resets the pace when the clock is reset to 0 for another run in this process.
void StartPaceAgain();

// Whether the calling thread is paced, and the time that it sees.
bool IsPaced(int64_t* time);
// Call when a paced thread queried work that was not ready. After many such queries the thread's
// time moves to `ready`, so that a loop without waits ends.
void PacedAsked(int64_t ready);

}  // namespace vramscope::emulated
