// Time that a program's host spends where nothing is put on a stream: it is not measured, so
// whoever leaves the computing out says how long it would have taken.
#include "emulated/core/platform.h"

extern "C" VRAMSCOPE_EMULATED_API void vramscope_emulated_host_works(int64_t ns);
// A process's first step of an optimizer begins.
extern "C" VRAMSCOPE_EMULATED_API void vramscope_emulated_first_optimizer_step();

void vramscope_emulated_host_works(int64_t ns) {
  if (ns > 0) vramscope::emulated::ThePlatform().clock.Submit(ns);
}

void vramscope_emulated_first_optimizer_step() {
  // What it takes the host longer than the third (modules that PyTorch imports for it, kernels that
  // are loaded): the median of 24 training runs on an H200, which were between 15 and 81 ms
  // (tests/golden/gpu/h200/summary.json).
  constexpr int64_t kLongerNs = 49'000'000;
  vramscope_emulated_host_works(kLongerNs);
}
