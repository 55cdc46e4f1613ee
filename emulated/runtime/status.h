// The thread's last error, as cudaGetLastError gives it. In each of the three runtimes of its own.
#pragma once

#include "emulated/core/platform.h"
#include "emulated/runtime/types.h"

namespace vramscope::emulated::runtime {

extern thread_local Error last_error;

// What a function returns for a result; failures become the thread's last error.
inline Error Done(Result result) {
  const Error error = static_cast<Error>(result);
  if (error != 0) {
    last_error = error;
  }
  return error;
}

}  // namespace vramscope::emulated::runtime

// A function whose null stream is the per-thread default stream under the suffix: here it is the
// same.
#define VRAMSCOPE_PER_THREAD_STREAM(name) decltype(name) name##_ptsz __attribute__((alias(#name)));
#define VRAMSCOPE_PER_THREAD_SYNCHRONOUS(name) \
  decltype(name) name##_ptds __attribute__((alias(#name)));
