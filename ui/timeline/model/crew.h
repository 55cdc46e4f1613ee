// Threads that help the calling one with a piece of work that falls into independent parts: what a
// frame takes is shared by the cores that are free just now.
//
//   Crew crew;
//   crew.Do(bands, [&](size_t band) { Draw(band); });  // returns when all are done
//
// Do() is called from one thread at a time. Helpers sleep between two calls; one that wakes too
// late finds nothing left and nobody waits for it.
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
  // They start when there is something to do.
  explicit Crew(int helpers = CoresToSpare()) : wanted_(helpers) {}
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // part(i) once for every i below `count`, in any order, on any of the threads. What a part throws
  // comes out here, once all are done.
  void Do(size_t count, const std::function<void(size_t)>& part);

 private:
  static int CoresToSpare();
  struct Job {
    Job(const std::function<void(size_t)>* all, size_t parts) : part(all), count(parts) {}
    const std::function<void(size_t)>* part;  // there until all are done
    size_t count;
    std::atomic<size_t> next = 0, done = 0;
    std::atomic<bool> failed = false;
    std::exception_ptr error = {};  // of the first part that threw
    void Work();
  };
  void Help();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<Job> job_;  // the newest
  bool ends_ = false;
  int wanted_;
  std::vector<std::thread> helpers_;
};

}  // namespace vramscope::ui::timeline
