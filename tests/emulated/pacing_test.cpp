// Tests that a thread that polls like NCCL's watchdog sees the same state at the same virtual time,
// however fast the computer is.
#include "emulated/core/pacing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "emulated/core/streams.h"

namespace vramscope::emulated {
namespace {

using std::chrono::milliseconds;

// Its address stands for the library that contains the watchdog: here, the test program itself.
const int kHere = 0;

struct Stage {
  Clock clock;
  Streams streams{&clock, 1};
  void* event = nullptr;
  Stage() { streams.CreateEvent(0, 0, &event); }
};

class Watchdog {
 public:
  // The thread sleeps for `late` before its first wait.
  Watchdog(Streams* streams, void* event, milliseconds late = milliseconds(0))
      : thread_([this, streams, event, late] {
          std::this_thread::sleep_for(late);
          std::unique_lock lock(mutex_);
          started_ = true;
          while (!stop_.wait_for(lock, milliseconds(20), [&] { return stopped_.load(); })) {
            ++passes_;
            if (streams->QueryEvent(event) == Result::kSuccess) {
              ++seen_;
            }
          }
        }) {}
  ~Watchdog() {
    if (!stopped_) {
      StopAndWake();
    }
    thread_.join();
  }
  void StopAndWake() {
    stopped_ = true;
    stop_.notify_one();
  }
  // Stops without notifying the thread, as if the notification came just before its wait.
  void StopWithoutWaking() { stopped_ = true; }
  bool started() const { return started_; }
  int passes() const { return passes_; }
  int seen() const { return seen_; }

 private:
  std::mutex mutex_;
  std::condition_variable stop_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> started_{false};
  std::atomic<int> passes_{0}, seen_{0};
  std::thread thread_;
};

TEST(Pacing, PollersWakeInVirtualTime) {
  PaceWaitsOf(&kHere);
  Clock clock;
  Streams streams(&clock, 1);
  void *stream = nullptr, *event = nullptr;
  streams.Create(0, 1, 0, &stream);
  streams.CreateEvent(0, 0, &event);
  const auto work = [&](int64_t duration) {
    Interval when;
    bool captured = false;
    streams.Enqueue(stream, {.duration_ns = duration}, &when, &captured);
  };
  work(250'000'000);
  streams.Record(event, stream);
  const Watchdog watchdog(&streams, event);
  // While only wall-clock time passes, the thread does not wake up.
  while (!watchdog.started()) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(watchdog.passes(), 0);
  // Now virtual time passes. The thread polls every 100 ms of it, and GiveTurns returns when the
  // poll is finished.
  std::vector<int> passes, seen;
  for (int64_t now : {50, 150, 160, 260, 299, 301}) {
    GiveTurns(now * 1'000'000);
    passes.push_back(watchdog.passes());
    seen.push_back(watchdog.seen());
  }
  EXPECT_EQ(passes, (std::vector<int>{0, 1, 1, 2, 2, 3}));
  // The event completes at 250 ms. The thread can notice this from 300 ms on, half a period later.
  EXPECT_EQ(seen, (std::vector<int>{0, 0, 0, 0, 0, 1}));
  // The thread notices that work has completed half a period after its end, independent of its
  // usual polls.
  work(127'000'000);
  streams.Record(event, stream);
  Interval when;
  bool captured = false;
  streams.Enqueue(stream, {.duration_ns = 0}, &when, &captured);
  const int64_t due = when.end_ns + 50'000'000;
  ExpectProgress(when.end_ns);
  const int seen_before = watchdog.seen();
  GiveTurns(due - 10'000'000);
  EXPECT_EQ(watchdog.seen(), seen_before);
  const int passes_before = watchdog.passes();
  GiveTurns(due);
  EXPECT_EQ(watchdog.passes(), passes_before + 1);
  EXPECT_EQ(watchdog.seen(), seen_before + 1);
}

TEST(Pacing, LibraryCanStopItsThread) {
  PaceWaitsOf(&kHere);
  Stage stage;
  for (bool wake : {true, false}) {
    Watchdog watchdog(&stage.streams, stage.event);
    while (!watchdog.started()) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(milliseconds(60));
    EXPECT_EQ(watchdog.passes(), 0) << "it has waited for longer than its period";
    wake ? watchdog.StopAndWake() : watchdog.StopWithoutWaking();
  }  // ~Watchdog joins the thread: if it does not stop, this test times out
}

TEST(Pacing, SlowStartingThreadMissesNoTurn) {
  PaceWaitsOf(&kHere);
  Stage stage;
  StartPaceAgain();
  Watchdog watchdog(&stage.streams, stage.event, milliseconds(300));
  std::vector<int> passes;
  for (int64_t now : {50, 101, 201, 202}) {
    GiveTurns(now * 1'000'000);
    passes.push_back(watchdog.passes());
  }
  EXPECT_EQ(passes, (std::vector<int>{0, 1, 2, 2}));
}

TEST(Pacing, SecondRunHasTheSamePace) {
  PaceWaitsOf(&kHere);
  const auto passes = [] {
    Stage stage;
    Watchdog watchdog(&stage.streams, stage.event);
    while (!watchdog.started()) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(milliseconds(60));
    StartPaceAgain();
    ExpectProgress(70'000'000);
    std::vector<int> all;
    for (int64_t now : {60, 110, 121, 150, 201, 1000}) {
      GiveTurns(now * 1'000'000);
      all.push_back(watchdog.passes());
    }
    return all;
  };
  const std::vector<int> first = passes();
  EXPECT_EQ(first, (std::vector<int>{0, 1, 2, 2, 3, 4}));
  EXPECT_EQ(passes(), first);
}

}  // namespace
}  // namespace vramscope::emulated
