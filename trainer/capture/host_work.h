// The host's time in a plan. The host does not really compute in a plan, so its time passes on the
// emulated platform's virtual clock.
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
// Call this at the start of the first optimizer step of a run, which takes additional time on the
// host. As in users' programs, the platform decides how much (emulated/core/host_work.cpp).
void FirstOptimizerStep();

}  // namespace vramscope::trainer
