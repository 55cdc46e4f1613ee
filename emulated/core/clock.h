// The host's virtual time. It is counted, never measured: a fixed cost for every call that puts
// work on a stream, and a jump when the host waits for work. Two runs of one program so see the
// same times.
//
// All threads that put work on streams share one clock (autograd's thread goes on where the main
// thread stopped). A thread that only asks (NCCL's watchdog, a thread that pins memory) reads that
// clock and never moves it: how often it polls must not change what the training thread sees. Its
// own questions let time pass for it alone, so that it does not wait for ever.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "emulated/core/api.h"

namespace vramscope::emulated {

class VRAMSCOPE_EMULATED_API Clock {
 public:
  static constexpr int64_t kSubmitNs = 10'000;  // a launch where nobody says more (host_work.h)
  static constexpr int64_t kQueryNs = 1'000;
  static constexpr int64_t kAllocateNs = 200'000;  // cudaMalloc, cudaFree and their like

  // Time as this thread sees it.
  int64_t now() const;
  // A call of this thread that puts work on a stream: from here on it is one of those that move the
  // clock.
  int64_t Submit(int64_t cost = kSubmitNs);
  // A question that was answered "not yet", asked by this thread.
  void Asked(int64_t ready);
  // It was answered "done".
  void Answered();
  // This thread waits until then. One that only asks sees that time from then on; the shared clock
  // stays where it is.
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
