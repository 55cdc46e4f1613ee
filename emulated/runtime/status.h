// Stores each thread's last error for cudaGetLastError, separately in each of the three runtimes.
#pragma once

#include "emulated/core/platform.h"
#include "emulated/runtime/types.h"

namespace vramscope::emulated::runtime {

extern thread_local Error last_error;

// Converts a result to a return value. A failure also becomes the thread's last error.
inline Error Done(Result result) {
  const Error error = static_cast<Error>(result);
  if (error != 0) {
    last_error = error;
  }
  return error;
}

}  // namespace vramscope::emulated::runtime

// Defines a function's variant with a suffix. In CUDA it uses the per-thread default stream for a
// null stream, but here it is the same function.
#define VRAMSCOPE_PER_THREAD_STREAM(name) decltype(name) name##_ptsz __attribute__((alias(#name)));
#define VRAMSCOPE_PER_THREAD_SYNCHRONOUS(name) \
  decltype(name) name##_ptds __attribute__((alias(#name)));
