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

#include "emulated/core/activity.h"
#include "emulated/core/api.h"
#include "emulated/core/assumptions.h"
#include "emulated/core/card.h"
#include "emulated/core/clock.h"
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
  std::vector<Card> cards;  // change by vramscope_emulated_set_card, _reread_cards alone
  AssumptionList assumptions;
  // Called without being emulated. what: the function, where: its library
  AssumptionList unknown_functions;     // answered "not supported"
  AssumptionList succeeding_functions;  // answered with success (names/succeeding.txt)
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> recognised{0};  // of these, of which it is known what they do
  HostBytes host_bytes;
  Masks masks;
  SharedCards processes;
  Memory memory;
  Pools pools;
  Clock clock;
  Streams streams;

  // Whether a device has a context: it was made current, or something of it was used.
  // Without locks held: the first use loads what CUDA_INJECTION64_PATH names.
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

// Of this thread, as cudaSetDevice and cuCtxSetCurrent leave it.
VRAMSCOPE_EMULATED_API int CurrentDevice();
VRAMSCOPE_EMULATED_API Result SetCurrentDevice(int device);

// A function of our libcuda.so.1, which lies beside this library; null when it has none of that
// name.
VRAMSCOPE_EMULATED_API void* DriverFunction(const char* name);

}  // namespace vramscope::emulated

// For Python, by ctypes.
extern "C" {
VRAMSCOPE_EMULATED_API void vramscope_emulated_assume(const char* what, const char* where,
                                                      uint64_t bytes);
VRAMSCOPE_EMULATED_API void vramscope_emulated_keep(uint64_t address, uint64_t bytes, int known);
// Of the elements of a mask there, so many are true (Masks::Say).
VRAMSCOPE_EMULATED_API void vramscope_emulated_count_true(uint64_t address, uint64_t elements,
                                                          uint64_t count);
// Of keys that this thread has counted from here on, at most so many are different; 0: all may be.
VRAMSCOPE_EMULATED_API void vramscope_emulated_count_distinct(uint64_t most);
VRAMSCOPE_EMULATED_API void vramscope_emulated_unknown_truth(int truth);
VRAMSCOPE_EMULATED_API int vramscope_emulated_is_known(uint64_t address, uint64_t bytes);
VRAMSCOPE_EMULATED_API uint64_t vramscope_emulated_now_ns();
VRAMSCOPE_EMULATED_API void vramscope_emulated_flush();
// SetOperandsWanted (recorder.h).
VRAMSCOPE_EMULATED_API void vramscope_emulated_tell_operands(uint64_t (*requests)(int device));

// For a program that plans in this process (the embedded loop).
// The device is another card: before its first use, or after a reset. `text` is a line of
// VRAMSCOPE_EMULATED_CARD. 0: done.
VRAMSCOPE_EMULATED_API int vramscope_emulated_set_card(int device, const char* text);
// The devices are the cards that the environment names now: in a fork, before it uses CUDA. 0:
// done; 1: it names no cards, or another number of them, and nothing has changed.
VRAMSCOPE_EMULATED_API int vramscope_emulated_reread_cards();
// Memory::SetOvercommit.
VRAMSCOPE_EMULATED_API void vramscope_emulated_overcommit(
    void (*observer)(void* context, int device, uint64_t bytes, uint64_t free), void* context);
// Streams::SetObserver, Streams::Repeat (`times`: may be null); `move` is a ClockMove.
VRAMSCOPE_EMULATED_API void vramscope_emulated_observe(void (*observer)(void* context, int move,
                                                                        int64_t duration_ns),
                                                       void* context);
VRAMSCOPE_EMULATED_API void vramscope_emulated_repeat(int move, int64_t duration_ns, int waits,
                                                      vramscope::emulated::RepeatedMove* times);
// Of all work and all memory from now on, in place of who listened before; null: nobody any more.
VRAMSCOPE_EMULATED_API void vramscope_emulated_listen(
    const vramscope::emulated::Listener* listener);
VRAMSCOPE_EMULATED_API const char* vramscope_emulated_call_name(int call);
// One kernel of a library that is modelled instead of run, on the current device's default stream:
// `bytes` read and written and 16-bit `flops` take what they take on the card (WorkDuration).
VRAMSCOPE_EMULATED_API void vramscope_emulated_kernel(const char* name, uint64_t bytes,
                                                      double flops);
// Memory::Reset, and the clock is 0 with nothing pending.
VRAMSCOPE_EMULATED_API void vramscope_emulated_reset(int device);
}
