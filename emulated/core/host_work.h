// What a program does between two calls that put work on a stream takes the host time, and the card
// waits where that is longer than its work. It is not measured: whoever knows what a thread runs
// says so, and it takes as long as the same took where it was recorded.
//
//   HostRuns(HostThread::kPython);      // Python's hooks, of the thread that calls
//   clock.Submit(LaunchHostNs());       // a launch of any thread
//
// Where nobody has said that Python is there (the embedded loop, a program in C++), a launch takes
// Clock::kSubmitNs.
#pragma once

#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

enum class HostThread : int {
  kUnsaid = 0,     // where Python is there: autograd's engine, or another thread of C++
  kPython = 1,     // operators called from Python
  kOptimizer = 2,  // an optimizer's step in Python
};

// Of the calling thread from now on. What it ran before.
VRAMSCOPE_EMULATED_API HostThread HostRuns(HostThread runs);
// A launch of the calling thread, with all that comes before it.
VRAMSCOPE_EMULATED_API int64_t LaunchHostNs();
// A step of an optimizer before its first launch: it goes through the parameters that it trains and
// through the tensors of their state.
VRAMSCOPE_EMULATED_API int64_t OptimizerHostNs(uint64_t parameters, uint64_t state_tensors);

// As in a fresh process, for tests: the calling thread has said nothing, nor has any other.
VRAMSCOPE_EMULATED_API void ForgetHostThreads();

}  // namespace vramscope::emulated

extern "C" {
// For Python's hooks, by ctypes: HostRuns; a module is called; a step begins, the process's first
// one or not; gradients of so many parameters are given back.
VRAMSCOPE_EMULATED_API int vramscope_emulated_host_runs(int runs);
VRAMSCOPE_EMULATED_API void vramscope_emulated_module_called();
VRAMSCOPE_EMULATED_API void vramscope_emulated_optimizer_step(uint64_t parameters,
                                                              uint64_t state_tensors, int first);
VRAMSCOPE_EMULATED_API void vramscope_emulated_gradients_cleared(uint64_t parameters);
// For the embedded loop, which leaves out what the host computes: so long it would have taken. A
// run's first step of an optimizer begins.
VRAMSCOPE_EMULATED_API void vramscope_emulated_host_works(int64_t ns);
VRAMSCOPE_EMULATED_API void vramscope_emulated_first_optimizer_step();
}
