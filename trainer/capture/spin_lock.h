// A lock for sections of some tens of nanoseconds, which two threads enter alternately, and rarely
// at the same time. Locking takes one atomic exchange, unlocking a plain store. A std::mutex needs
// an atomic operation for both, which took 8 % of a plan's time. A waiting thread soon yields.
//
//   SpinLock lock_;
//   std::lock_guard lock(lock_);
#pragma once

#include <atomic>
#include <thread>

namespace vramscope::trainer {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries)
      if (tries > kTries) std::this_thread::yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  static constexpr int kTries = 64;
  std::atomic<bool> taken_{false};
};

}  // namespace vramscope::trainer
