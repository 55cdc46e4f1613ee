// The host's virtual time. It is counted, not measured: every call that puts work on a stream costs
// a fixed time, and the clock jumps forward when the host waits for work. Therefore a program sees
// the same times in every run.
//
// All threads that put work on streams share one clock: autograd's thread continues where the main
// thread stopped. A thread that only queries (NCCL's watchdog, the thread that pins memory) reads
// this clock but never moves it, because its polling rate must not affect the training thread. Each
// query advances only the time of the querying thread, so that its loop ends.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

class VRAMSCOPE_EMULATED_API Clock {
 public:
  // The host time of a launch, unless host_work.h sets a longer time.
  static constexpr int64_t kSubmitNs = 10'000;
  static constexpr int64_t kQueryNs = 1'000;
  static constexpr int64_t kAllocateNs = 200'000;  // host time of cudaMalloc, cudaFree and similar

  // Returns the time as this thread sees it.
  int64_t now() const;
  // Call when this thread puts work on a stream. From then on, this thread moves the clock.
  int64_t Submit(int64_t cost = kSubmitNs);
  // Call when this thread's query returned "not ready". The work will be done at `ready`.
  void Asked(int64_t ready);
  // Call when this thread's query found the work done.
  void Answered();
  // Waits until `time`. Moves the clock or, if this thread never submitted work, only its own time.
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
