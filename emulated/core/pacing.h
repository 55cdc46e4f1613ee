// Threads that poll, brought to the virtual clock. PyTorch's NCCL watchdog sleeps 100 ms of the
// wall clock, asks whether collectives are over, and lets go of their tensors: how often it comes
// by while a step is planned depends on the computer's load, and with it the memory of the next
// step. On a card, too, it comes by at some time from 0 to 100 ms after a collective is over, on
// average after 50: what it lets go of is gone in most runs from then on, and not before. So its
// sleep is made a wait for virtual time:
//   - the timed waits of the library that it runs in are turned to a function here (PaceWaitsOf,
//   when a library that needs libnccl registers its kernels, so before it has any thread);
//   - a thread that this library starts is waited for until it has come to its first wait: what it
//   saw before, it would see by the wall clock;
//   - 50 ms of virtual time after each collective (ExpectTurn), and every 100 ms, the thread that
//     launches work gives such threads a turn, and goes on when they are back in their wait
//     (GiveTurns);
//   - what they see is the clock as it was 50 ms before that moment, however late they ask: so
//     what a program does before its first collective moves nothing.
//
// Thread-safe.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

// Of the shared object that this address lies in (a return address will do), or, with `uses`, only
// if it is linked with a library whose name begins so. Once is enough.
VRAMSCOPE_EMULATED_API void PaceWaitsOf(const void* address, const char* uses = nullptr);

// Something that they ask for is over then.
void ExpectTurn(int64_t done);

// By the thread that launches, with no lock held; now: the clock.
void GiveTurns(int64_t now);

// The clock stands at 0 again: another run in this process.
void StartPaceAgain();

// Whether the calling thread is such a thread, and what time it sees.
bool IsPaced(int64_t* time);
// It got an answer that it may not like to hear for ever: a loop without waits is let go in the
// end.
void PacedAsked(int64_t ready);

}  // namespace vramscope::emulated
