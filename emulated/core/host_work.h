// Models the host time that a program spends between two calls that put work on a stream. If this
// time is longer than the work takes, the GPU is idle. The time is not measured: callers report
// which kind of code a thread runs, and the platform adds the time that code of this kind took in
// recordings.
//
//   HostRuns(HostThread::kPython);      // by Python's hooks, for the calling thread
//   clock.Submit(LaunchHostNs());       // by the platform, on the thread that launches
//
// If no thread has reported Python (in the embedded loop or a C++ program), a launch takes
// Clock::kSubmitNs.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

enum class HostThread : int {
  kUnsaid = 0,     // not reported: in a Python program, autograd's engine or another C++ thread
  kPython = 1,     // operators called from Python
  kOptimizer = 2,  // an optimizer's step in Python
};

// Sets which kind of code the calling thread runs from now on. Returns the previous kind.
VRAMSCOPE_EMULATED_API HostThread HostRuns(HostThread runs);
// Returns the host time of a launch by the calling thread, including the code before it.
VRAMSCOPE_EMULATED_API int64_t LaunchHostNs();
// Returns the host time of an optimizer step before its first launch. In this time, the optimizer
// iterates over its parameters and their state tensors.
VRAMSCOPE_EMULATED_API int64_t OptimizerHostNs(uint64_t parameters, uint64_t state_tensors);

// For tests: forgets what all threads have reported, as in a new process.
VRAMSCOPE_EMULATED_API void ForgetHostThreads();

}  // namespace vramscope::emulated

extern "C" {
// Python's hooks call these four functions through ctypes. The first function calls HostRuns. The
// others report that a module is called, that an optimizer step begins (`first`: it is the first
// step of the process), and that gradients are cleared.
VRAMSCOPE_EMULATED_API int vramscope_emulated_host_runs(int runs);
VRAMSCOPE_EMULATED_API void vramscope_emulated_module_called();
VRAMSCOPE_EMULATED_API void vramscope_emulated_optimizer_step(uint64_t parameters,
                                                              uint64_t state_tensors, int first);
VRAMSCOPE_EMULATED_API void vramscope_emulated_gradients_cleared(uint64_t parameters);
// The embedded loop skips the host's own computations, and adds their time with host_works().
// first_optimizer_step() reports that a run's first optimizer step begins; Python's hooks call it,
// too.
VRAMSCOPE_EMULATED_API void vramscope_emulated_host_works(int64_t ns);
VRAMSCOPE_EMULATED_API void vramscope_emulated_first_optimizer_step();
}
