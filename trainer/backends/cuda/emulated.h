// Functions that only the emulated platform has. They are looked up in the symbols of this process.
#pragma once

#include <cstdint>

#include "emulated/core/activity.h"

namespace vramscope::trainer::cuda {

// All members are null if the process runs on the real CUDA libraries.
struct EmulatedPlatform {
  using Observer = void (*)(void* context, int device, uint64_t bytes, uint64_t free);

  int (*set_gpu)(int device, const char* text) = nullptr;
  void (*overcommit)(Observer observer, void* context) = nullptr;
  void (*reset)(int device) = nullptr;
  // A move is a call that advances the virtual clock. The observer gets every move, so that the
  // moves can be repeated later. `move` is a ClockMove (emulated/core/streams.h).
  using Mover = void (*)(void* context, int move, int64_t duration_ns);
  void (*observe)(Mover observer, void* context) = nullptr;
  void (*repeat)(int move, int64_t duration_ns, int waits, emulated::RepeatedMove* times) = nullptr;
  // Reports all work and all memory to the listener until the process ends.
  void (*listen)(const emulated::Listener* listener) = nullptr;
  const char* (*call_name)(int call) = nullptr;
  uint64_t (*now_ns)() = nullptr;
  void (*kernel)(const char* name, uint64_t bytes, double flops) = nullptr;
  void (*host_works)(int64_t ns) = nullptr;
  void (*first_optimizer_step)() = nullptr;

  bool there() const { return now_ns != nullptr; }
};

inline constexpr int kWaitMove = 1;
// Moves that cannot be repeated.
inline constexpr int kOtherMove = 2;

const EmulatedPlatform& Emulated();

}  // namespace vramscope::trainer::cuda
