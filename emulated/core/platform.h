// The emulated platform of a process: the GPUs, their memory and streams, and the clock.
//
//   Platform& platform = ThePlatform();
//   const Gpu& gpu = platform.gpus[CurrentDevice()];
//
// Created at the first use, never destroyed. The members have their own locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "emulated/core/activity.h"
#include "emulated/core/api.h"
#include "emulated/core/assumptions.h"
#include "emulated/core/clock.h"
#include "emulated/core/gpu.h"
#include "emulated/core/host_bytes.h"
#include "emulated/core/injection.h"
#include "emulated/core/masks.h"
#include "emulated/core/memory.h"
#include "emulated/core/pools.h"
#include "emulated/core/result.h"
#include "emulated/core/settings.h"
#include "emulated/core/streams.h"

namespace vramscope::emulated {

struct Platform {
  explicit Platform(Settings settings);

  const Settings settings;
  std::vector<Gpu> gpus;  // changed only by vramscope_emulated_set_gpu and _reread_settings
  AssumptionList assumptions;
  // Calls of functions that are not emulated: `what` is the function, `where` its library.
  AssumptionList unknown_functions;     // returned "not supported"
  AssumptionList succeeding_functions;  // returned success (names/succeeding.txt)
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> recognised{0};  // launches of kernels whose work is known
  HostBytes host_bytes;
  Masks masks;
  SharedGpus processes;
  Memory memory;
  Pools pools;
  Clock clock;
  Streams streams;

  // Call after the device was made current or was used, because it then has a context. Call it
  // without locks held, because the first use loads the library of CUDA_INJECTION64_PATH.
  void MarkUsed(int device) {
    if (IsUsed(device)) return;
    if (used_.fetch_or(uint64_t{1} << device, std::memory_order_relaxed) == 0) LoadInjection();
    memory.TakeContext(device);
  }
  bool IsUsed(int device) const {
    return (used_.load(std::memory_order_relaxed) >> device & 1) != 0;
  }

 private:
  std::atomic<uint64_t> used_{0};
};

VRAMSCOPE_EMULATED_API Platform& ThePlatform();

// The current device of this thread, as set by cudaSetDevice or cuCtxSetCurrent.
VRAMSCOPE_EMULATED_API int CurrentDevice();
VRAMSCOPE_EMULATED_API Result SetCurrentDevice(int device);

// Looks up a function of the emulated libcuda.so.1 in this library's folder. Returns null if
// libcuda.so.1 has no such function.
VRAMSCOPE_EMULATED_API void* DriverFunction(const char* name);

}  // namespace vramscope::emulated

// For Python, through ctypes.
extern "C" {
VRAMSCOPE_EMULATED_API void vramscope_emulated_assume(const char* what, const char* where,
                                                      uint64_t bytes);
VRAMSCOPE_EMULATED_API void vramscope_emulated_keep(uint64_t address, uint64_t bytes, int known);
// Sets how many elements of the mask at `address` are true (Masks::Say).
VRAMSCOPE_EMULATED_API void vramscope_emulated_count_true(uint64_t address, uint64_t elements,
                                                          uint64_t count);
// Limits the number of distinct keys that this thread counts from now on. 0 means no limit.
VRAMSCOPE_EMULATED_API void vramscope_emulated_count_distinct(uint64_t most);
// Sets how unknown booleans read in this thread: 0 false, 1 true, 2 once true, then false.
VRAMSCOPE_EMULATED_API void vramscope_emulated_unknown_truth(int truth);
VRAMSCOPE_EMULATED_API int vramscope_emulated_is_known(uint64_t address, uint64_t bytes);
VRAMSCOPE_EMULATED_API uint64_t vramscope_emulated_now_ns();
VRAMSCOPE_EMULATED_API void vramscope_emulated_flush();
// Calls SetOperandsEnabled (recorder.h).
VRAMSCOPE_EMULATED_API void vramscope_emulated_record_operands(uint64_t (*requests)(int device));
// Calls SetCallSites (recorder.h).
VRAMSCOPE_EMULATED_API void vramscope_emulated_record_call_sites(const char* (*site)());

// For a program that plans in its own process (the embedded loop): replaces the GPU of a device
// before the device is first used or after a reset. `text` is a line of VRAMSCOPE_EMULATED_GPU.
// Returns 0 on success.
VRAMSCOPE_EMULATED_API int vramscope_emulated_set_gpu(int device, const char* text);
// In a fork that has not used CUDA, replaces the GPUs by those in the environment, and shares their
// memory with the processes of the environment's run instead of those of the parent's run. Returns
// 0 on success. Returns 1 and changes nothing if the environment has no GPUs or another number of
// them.
VRAMSCOPE_EMULATED_API int vramscope_emulated_reread_settings();
// Calls Memory::SetOvercommit.
VRAMSCOPE_EMULATED_API void vramscope_emulated_overcommit(
    void (*observer)(void* context, int device, uint64_t bytes, uint64_t free), void* context);
// Call Streams::SetObserver and Streams::Repeat. `move` is a ClockMove, and `times` may be null.
VRAMSCOPE_EMULATED_API void vramscope_emulated_observe(void (*observer)(void* context, int move,
                                                                        int64_t duration_ns),
                                                       void* context);
VRAMSCOPE_EMULATED_API void vramscope_emulated_repeat(int move, int64_t duration_ns, int waits,
                                                      vramscope::emulated::RepeatedMove* times);
// Sets the listener, which is called for all work and memory from now on. Null removes it.
VRAMSCOPE_EMULATED_API void vramscope_emulated_listen(
    const vramscope::emulated::Listener* listener);
VRAMSCOPE_EMULATED_API const char* vramscope_emulated_call_name(int call);
// Submits a kernel of a library that is modelled instead of executed, on the current device's
// default stream. `bytes` (read and written) and `flops` (16-bit) give its duration (WorkDuration).
VRAMSCOPE_EMULATED_API void vramscope_emulated_kernel(const char* name, uint64_t bytes,
                                                      double flops);
// Calls Memory::Reset, sets the clock to 0, and drops pending work.
VRAMSCOPE_EMULATED_API void vramscope_emulated_reset(int device);
}
