#include "ui/timeline/model/crew.h"

#include <algorithm>

namespace vramscope::ui::timeline {

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

int Crew::CoresToSpare() {
  constexpr int kMost = 3;  // more threads are not faster, because memory bandwidth limits the work
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - 1, 0, kMost);
}

void Crew::Job::Work() {
  size_t mine = 0;
  for (size_t i = next++; i < count; i = next++, ++mine) {
    try {
      (*part)(i);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }
  // The thread that finishes the last part notifies the caller.
  if (mine > 0 && (done += mine) == count) done.notify_all();
}

void Crew::Do(size_t count, const std::function<void(size_t)>& part) {
  if (wanted_ <= 0 || count < 2) {
    for (size_t i = 0; i < count; ++i) part(i);
    return;
  }
  try {
    while (static_cast<int>(helpers_.size()) < wanted_) helpers_.emplace_back([this] { Help(); });
  } catch (...) {
    wanted_ = static_cast<int>(helpers_.size());  // continue with fewer threads
  }
  const auto job = std::make_shared<Job>(&part, count);
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
  }
  wake_.notify_all();
  job->Work();
  for (size_t done = job->done; done < count; done = job->done) job->done.wait(done);
  if (job->failed) std::rethrow_exception(job->error);
}

void Crew::Help() {
  std::shared_ptr<Job> last;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return ends_ || job_ != last; });
    if (ends_) return;
    last = job_;
    lock.unlock();
    last->Work();
    lock.lock();
  }
}

}  // namespace vramscope::ui::timeline
