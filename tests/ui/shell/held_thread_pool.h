// Keeps what is done in the background from starting, so that a test can come before it.
#pragma once

#include <QSemaphore>
#include <QThreadPool>

namespace vramscope::ui::testing {

class HeldThreadPool {
 public:
  HeldThreadPool() : threads_(pool_->maxThreadCount()) {
    pool_->waitForDone();
    pool_->setMaxThreadCount(1);
    pool_->start([this] { held_.acquire(); });
  }
  ~HeldThreadPool() {
    held_.release();
    pool_->setMaxThreadCount(threads_);
    pool_->waitForDone();
  }

 private:
  QThreadPool* pool_ = QThreadPool::globalInstance();
  int threads_;
  QSemaphore held_;
};

}  // namespace vramscope::ui::testing
