// Time that the host would compute for, in a plan, where nothing is computed: it passes on the
// clock of the emulated platform.
//
//   SetHostTime(&PassOnTheClock, ...);  // the backend, once; null: time is the computer's own
//   HostWorks(bytes / bytes_per_ns);    // a technique that leaves the host's part out
#pragma once

#include <cstdint>

namespace vramscope::trainer {

using PassHostTime = void (*)(int64_t ns);
using PassFirstStep = void (*)();
void SetHostTime(PassHostTime pass, PassFirstStep first_step);
void HostWorks(int64_t ns);
// A run's first step of the optimizer begins: how much longer it takes the platform says
// (emulated/core/host_work.cpp), to programs as to the loop.
void FirstOptimizerStep();

}  // namespace vramscope::trainer
