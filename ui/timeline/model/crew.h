// Threads that help the calling thread with independent parts of its work, such as drawing parts of
// a frame on free cores.
//
//   Crew crew;
//   crew.Do(bands, [&](size_t band) { Draw(band); });  // returns when all parts are done
//
// Only one thread at a time may call Do(). Helpers sleep between two calls. A helper that wakes
// after all parts have been taken does nothing, and no thread waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace vramscope::ui::timeline {

class Crew {
 public:
  // The first Do() starts the threads.
  explicit Crew(int helpers = CoresToSpare()) : wanted_(helpers) {}
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls part(i) once for every i below `count`, in any order, on any of the threads. If a part
  // throws an exception, Do() rethrows the exception after all parts have ended.
  void Do(size_t count, const std::function<void(size_t)>& part);

 private:
  static int CoresToSpare();
  struct Job {
    Job(const std::function<void(size_t)>* all, size_t parts) : part(all), count(parts) {}
    const std::function<void(size_t)>* part;  // valid until all parts are done
    size_t count;
    std::atomic<size_t> next = 0, done = 0;
    std::atomic<bool> failed = false;
    std::exception_ptr error = {};  // the exception of the first part that threw one
    void Work();
  };
  void Help();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<Job> job_;  // the job that was added last
  bool ends_ = false;
  int wanted_;
  std::vector<std::thread> helpers_;
};

}  // namespace vramscope::ui::timeline
