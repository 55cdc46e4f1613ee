#include "emulated/core/clock.h"

#include <algorithm>

#include "emulated/core/pacing.h"

namespace vramscope::emulated {
namespace {

// After this many consecutive queries that returned "not ready", time jumps to the end of the
// work.
constexpr int kPatience = 1000;

struct Thread {
  bool submits = false;
  int questions = 0;  // queries in a row that returned "not ready"
  int64_t ahead = 0;  // offset to the shared clock, for a thread that only queries
  // The latest time for which this thread has waited if it only queries. It is valid only while
  // `resets` equals the clock's number of resets.
  int64_t waited = 0;
  uint64_t resets = 0;
};
thread_local Thread thread;

}  // namespace

int64_t Clock::now() const {
  int64_t paced = 0;
  return IsPaced(&paced) ? paced
                         : std::max(now_.load(std::memory_order_relaxed) + thread.ahead, Waited());
}

int64_t Clock::Waited() const {
  return thread.resets == resets_.load(std::memory_order_relaxed) ? thread.waited : 0;
}

void Clock::MoveTo(int64_t time) {
  int64_t now = now_.load(std::memory_order_relaxed);
  while (now < time && !now_.compare_exchange_weak(now, time, std::memory_order_relaxed)) {
  }
}

int64_t Clock::Submit(int64_t cost) {
  if (!thread.submits) {
    MoveTo(Waited());  // the thread's work starts after its waits
    thread.waited = 0;
    thread.submits = true;
  }
  thread.questions = 0;
  thread.ahead = 0;
  return now_.fetch_add(cost, std::memory_order_relaxed) + cost;
}

void Clock::Asked(int64_t ready) {
  if (int64_t paced = 0; IsPaced(&paced)) {
    PacedAsked(ready);
    return;
  }
  if (thread.submits) {
    now_.fetch_add(kQueryNs, std::memory_order_relaxed);
    if (++thread.questions > kPatience) {
      WaitUntil(ready);
    }
    return;
  }
  constexpr int64_t kMillisecond = 1'000'000;
  constexpr int64_t kFarthest = int64_t{1} << 60;  // 36 years; prevents an overflow
  thread.ahead = std::min(thread.ahead + std::max(kMillisecond, thread.ahead), kFarthest);
}

void Clock::Answered() { thread.ahead = 0; }

void Clock::WaitUntil(int64_t time) {
  thread.questions = 0;
  if (!thread.submits) {
    thread.waited = std::max(Waited(), time);
    thread.resets = resets_.load(std::memory_order_relaxed);
    return;
  }
  MoveTo(time);
}

}  // namespace vramscope::emulated
