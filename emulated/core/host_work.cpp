// Time that a program's host spends where nothing is put on a stream: it is not measured, so
// whoever leaves the computing out says how long it would have taken.
#include "emulated/core/platform.h"

extern "C" VRAMSCOPE_EMULATED_API void vramscope_emulated_host_works(int64_t ns);

void vramscope_emulated_host_works(int64_t ns) {
  if (ns > 0) vramscope::emulated::ThePlatform().clock.Submit(ns);
}
