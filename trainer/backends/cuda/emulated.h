// The emulated platform's own functions, found in the process where it is there.
#pragma once

#include <cstdint>

#include "emulated/core/activity.h"

namespace vramscope::trainer::cuda {

// Null members: this process runs on the real CUDA libraries.
struct EmulatedPlatform {
  using Observer = void (*)(void* context, int device, uint64_t bytes, uint64_t free);

  int (*set_card)(int device, const char* text) = nullptr;
  void (*overcommit)(Observer observer, void* context) = nullptr;
  void (*reset)(int device) = nullptr;
  // What moves the clock, told and made once more; `move` as in emulated/core/streams.h.
  using Mover = void (*)(void* context, int move, int64_t duration_ns);
  void (*observe)(Mover observer, void* context) = nullptr;
  void (*repeat)(int move, int64_t duration_ns, int waits, emulated::RepeatedMove* times) = nullptr;
  // All work and all memory, told for the rest of the process.
  void (*listen)(const emulated::Listener* listener) = nullptr;
  const char* (*call_name)(int call) = nullptr;
  uint64_t (*now_ns)() = nullptr;
  void (*kernel)(const char* name, uint64_t bytes, double flops) = nullptr;
  void (*host_works)(int64_t ns) = nullptr;
  void (*first_optimizer_step)() = nullptr;

  bool there() const { return now_ns != nullptr; }
};

inline constexpr int kWaitMove = 1;
// Moves that can't be repeated.
inline constexpr int kOtherMove = 2;

const EmulatedPlatform& Emulated();

}  // namespace vramscope::trainer::cuda
