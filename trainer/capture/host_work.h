// Host time in a plan. In a plan the host computes nothing, and its time passes on the emulated
// platform's virtual clock.
//
//   SetHostTime(&PassOnTheClock, ...);  // called once by the backend; null: real time
//   HostWorks(bytes / bytes_per_ns);    // called by a technique that skips work of the host
#pragma once

#include <cstdint>

namespace vramscope::trainer {

using PassHostTime = void (*)(int64_t ns);
using PassFirstStep = void (*)();
void SetHostTime(PassHostTime pass, PassFirstStep first_step);
void HostWorks(int64_t ns);
// Call at the start of a run's first optimizer step, which takes additional time on the host. The
// platform determines this time, as it does for users' programs (emulated/core/host_work.cpp).
void FirstOptimizerStep();

}  // namespace vramscope::trainer
