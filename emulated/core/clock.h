// The host's virtual time. It is counted, not measured: every call that puts work on a stream costs
// a fixed time, and the clock jumps forward when the host waits for work. Therefore two runs of a
// program see the same times.
//
// All threads that put work on streams share one clock (autograd's thread continues where the main
// thread stopped). A thread that only queries (NCCL's watchdog, the thread that pins memory) reads
// that clock and never moves it, because its polling rate must not change what the training thread
// sees. A query advances time for the querying thread alone, so that it does not wait forever.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

class VRAMSCOPE_EMULATED_API Clock {
 public:
  // Host time of a launch, unless host_work.h sets more.
  static constexpr int64_t kSubmitNs = 10'000;
  static constexpr int64_t kQueryNs = 1'000;
  static constexpr int64_t kAllocateNs = 200'000;  // host time of cudaMalloc, cudaFree and similar

  // The time that this thread sees.
  int64_t now() const;
  // Called when this thread puts work on a stream. From then on the thread moves the clock.
  int64_t Submit(int64_t cost = kSubmitNs);
  // Call when this thread's query returned "not ready"; the work will be done at `ready`.
  void Asked(int64_t ready);
  // Call when this thread's query found the work done.
  void Answered();
  // Waits until `time`. If this thread never submitted work, its own time moves, not the clock.
  void WaitUntil(int64_t time);
  void Reset() {
    now_.store(0, std::memory_order_relaxed);
    resets_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  int64_t Waited() const;
  void MoveTo(int64_t time);

  std::atomic<int64_t> now_{0};
  std::atomic<uint64_t> resets_{0};
};

}  // namespace vramscope::emulated
