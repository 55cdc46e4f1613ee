// The emulated platform's own functions, found in the process where it is there.
#pragma once

#include <cstdint>

namespace vramscope::trainer::cuda {

// Null members: this process runs on the real CUDA libraries.
struct EmulatedPlatform {
  using Observer = void (*)(void* context, int device, uint64_t bytes, uint64_t free);

  int (*set_card)(int device, const char* text) = nullptr;
  void (*overcommit)(Observer observer, void* context) = nullptr;
  void (*reset)(int device) = nullptr;
  uint64_t (*now_ns)() = nullptr;

  bool there() const { return now_ns != nullptr; }
};

const EmulatedPlatform& Emulated();

}  // namespace vramscope::trainer::cuda
