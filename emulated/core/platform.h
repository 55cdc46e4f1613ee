// The one platform of a process: its cards with their memory, streams and clock.
//
//   Platform& platform = ThePlatform();
//   const Card& card = platform.cards[CurrentDevice()];
//
// Made at the first use, never destroyed. The members lock for themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "emulated/core/api.h"
#include "emulated/core/assumptions.h"
#include "emulated/core/card.h"
#include "emulated/core/clock.h"
#include "emulated/core/host_bytes.h"
#include "emulated/core/memory.h"
#include "emulated/core/result.h"
#include "emulated/core/settings.h"
#include "emulated/core/streams.h"

namespace vramscope::emulated {

struct Platform {
  explicit Platform(Settings settings);

  const Settings settings;
  const std::vector<Card>& cards;
  AssumptionList assumptions;
  AssumptionList unknown_functions;  // what: the function, where: its library
  std::atomic<uint64_t> launches{0};
  HostBytes host_bytes;
  Memory memory;
  Clock clock;
  Streams streams;
};

VRAMSCOPE_EMULATED_API Platform& ThePlatform();

// Of this thread, as cudaSetDevice and cuCtxSetCurrent leave it.
VRAMSCOPE_EMULATED_API int CurrentDevice();
VRAMSCOPE_EMULATED_API Result SetCurrentDevice(int device);

// A function of our libcuda.so.1, which lies beside this library; null when it has none of that
// name.
VRAMSCOPE_EMULATED_API void* DriverFunction(const char* name);

}  // namespace vramscope::emulated

// For the Python side, by ctypes.
extern "C" {
VRAMSCOPE_EMULATED_API void vramscope_emulated_assume(const char* what, const char* where,
                                                      uint64_t bytes);
VRAMSCOPE_EMULATED_API void vramscope_emulated_answer(int64_t value);
VRAMSCOPE_EMULATED_API void vramscope_emulated_keep(uint64_t address, uint64_t bytes, int known);
VRAMSCOPE_EMULATED_API int vramscope_emulated_is_known(uint64_t address, uint64_t bytes);
VRAMSCOPE_EMULATED_API uint64_t vramscope_emulated_now_ns();
VRAMSCOPE_EMULATED_API void vramscope_emulated_flush();
}
