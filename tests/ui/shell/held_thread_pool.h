// Prevents background jobs from starting, so that a test can do something before them.
#pragma once

#include <QSemaphore>
#include <QThreadPool>
#include <limits>

#include "ui/jobs/pool.h"

namespace vramscope::ui::testing {

class HeldThreadPool {
 public:
  HeldThreadPool() : threads_(pool_.maxThreadCount()) {
    pool_.setMaxThreadCount(1);
    // The first of these jobs blocks the only thread. A job that waits for files adds a thread to
    // the pool. The next of these jobs blocks the added thread, because queued jobs start before
    // new ones.
    for (int i = 0; i < kHolders; ++i) pool_.start([this] { Hold(); }, kFirst);
  }
  ~HeldThreadPool() {
    pool_.setMaxThreadCount(threads_);
    held_.release(kHolders);
    left_.acquire(kHolders);
  }

 private:
  void Hold() {
    held_.acquire();
    left_.release();
  }

  static constexpr int kHolders = 16;  // tests start fewer jobs while the pool is blocked
  static constexpr int kFirst = std::numeric_limits<int>::max();
  QThreadPool& pool_ = JobPool();
  int threads_;
  QSemaphore held_, left_;
};

}  // namespace vramscope::ui::testing
