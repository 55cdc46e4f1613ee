// Time that the host would compute for, in a plan, where nothing is computed: it passes on the
// clock of the emulated platform.
//
//   SetHostTime(&PassOnTheClock);       // the backend, once; null: time is the computer's own
//   HostWorks(bytes / bytes_per_ns);    // a technique that leaves the host's part out
#pragma once

#include <cstdint>

namespace vramscope::trainer {

// What a process's first step of a Python optimizer takes longer than the others (imports, kernels
// that are loaded): median of 24 training runs on an H200. emulated/python has the same.
inline constexpr int64_t kFirstOptimizerStepNs = 49'000'000;

using PassHostTime = void (*)(int64_t ns);
void SetHostTime(PassHostTime pass);
void HostWorks(int64_t ns);

}  // namespace vramscope::trainer
