// Tests jobs outside the UI thread: which results arrive and in which order, and jobs that throw,
// wait, or are no longer needed.
#include "ui/jobs/jobs.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QThread>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <new>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <vector>

#include "ui/jobs/pool.h"
#include "ui/jobs/release_later.h"

namespace vramscope::ui {
namespace {

constexpr int kLongMs = 20'000;  // a passing test never waits that long

template <class Condition>
bool WaitFor(Condition condition) {
  QElapsedTimer since;
  since.start();
  while (!condition()) {
    if (since.elapsed() > kLongMs) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 20);
  }
  return true;
}

// Stops a job: the job reports that it has begun, then waits until the test opens the gate.
struct Gate {
  std::binary_semaphore begun{0}, open{0};
  auto Job(int answer) {
    return [this, answer] {
      begun.release();
      open.acquire();
      return answer;
    };
  }
};

TEST(Jobs, ResultIsDeliveredOnTheCallingThread) {
  Jobs jobs;
  QThread* job_thread = nullptr;
  QThread* callback_thread = nullptr;
  int answer = 0;
  jobs.Ask(
      [&] {
        job_thread = QThread::currentThread();
        return 42;
      },
      [&](const absl::StatusOr<int>& a) {
        callback_thread = QThread::currentThread();
        answer = a.value();
      });
  EXPECT_TRUE(jobs.busy());
  ASSERT_TRUE(WaitFor([&] { return !jobs.busy(); }));
  EXPECT_EQ(answer, 42);
  EXPECT_EQ(callback_thread, QThread::currentThread());
  EXPECT_NE(job_thread, callback_thread);
}

TEST(Jobs, ExceptionBecomesAStatus) {
  Jobs jobs;
  absl::StatusOr<int> memory = 0, other = 0;
  absl::Status nothing;
  const JobOptions kept{.earlier = Earlier::kAll};
  jobs.Ask([]() -> int { throw std::bad_alloc(); },
           [&](const absl::StatusOr<int>& a) { memory = a; }, kept);
  jobs.Ask([]() -> absl::StatusOr<int> { throw std::runtime_error("why"); },
           [&](const absl::StatusOr<int>& a) { other = a; }, kept);
  jobs.Ask([] { throw std::bad_alloc(); }, [&](const absl::Status& a) { nothing = a; }, kept);
  jobs.finish();
  EXPECT_EQ(memory.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(other.status().message().find("why"), std::string::npos) << other.status();
  EXPECT_EQ(nothing.code(), absl::StatusCode::kResourceExhausted);
}

TEST(Jobs, NewJobCancelsEarlierJobWithTheSameKey) {
  Jobs jobs;
  Gate gate;
  std::vector<int> shown;
  int dropped = 0;
  const auto show = [&](const absl::StatusOr<int>& a) { shown.push_back(a.value()); };
  std::atomic<bool> cancelled = false;
  jobs.Ask(
      [&](const JobToken& token) {
        gate.begun.release();
        gate.open.acquire();
        cancelled = token.cancelled();
        return 1;
      },
      show, {.key = 7, .dropped = [&] { ++dropped; }});
  jobs.Ask([] { return 2; }, show, {.key = 8});
  gate.begun.acquire();
  jobs.Ask([] { return 3; }, show, {.key = 7});
  EXPECT_EQ(dropped, 1);
  gate.open.release();
  ASSERT_TRUE(WaitFor([&] { return !jobs.busy(); }));
  ASSERT_TRUE(jobs.wait(kLongMs));
  QCoreApplication::processEvents();
  std::ranges::sort(shown);
  EXPECT_EQ(shown, (std::vector{2, 3}));
  EXPECT_TRUE(cancelled);
}

TEST(Jobs, EarlierShownDeliversRunningAndNewestJob) {
  Jobs jobs;
  Gate gate;
  std::vector<int> shown, ran;
  int dropped = 0;
  const auto ask = [&](int i) {
    jobs.Ask(
        [&, i] {
          ran.push_back(i);  // jobs of one key run one at a time
          if (i == 0) gate.Job(0)();
          return i;
        },
        [&](const absl::StatusOr<int>& a) { shown.push_back(a.value()); },
        {.earlier = Earlier::kShown, .dropped = [&] { ++dropped; }});
  };
  ask(0);
  gate.begun.acquire();
  for (int i = 1; i < 5; ++i) ask(i);
  gate.open.release();
  ASSERT_TRUE(WaitFor([&] { return !jobs.busy(); }));
  EXPECT_EQ(shown, (std::vector{0, 4}));
  EXPECT_EQ(ran, (std::vector{0, 4}));
  EXPECT_EQ(dropped, 3);
}

TEST(Jobs, EarlierKeptDeliversEveryResult) {
  Jobs jobs;
  int sum = 0;
  for (int i = 1; i <= 20; ++i)
    jobs.Ask([i] { return i; }, [&](const absl::StatusOr<int>& a) { sum += a.value(); },
             {.earlier = Earlier::kAll});
  jobs.finish();
  EXPECT_FALSE(jobs.busy());
  EXPECT_EQ(sum, 210);
}

TEST(Jobs, CancelledJobDeliversNoResult) {
  Jobs jobs;
  Gate gate;
  bool shown = false;
  jobs.Ask(gate.Job(1), [&](const absl::StatusOr<int>&) { shown = true; });
  gate.begun.acquire();
  jobs.cancel();
  EXPECT_FALSE(jobs.busy());
  gate.open.release();
  ASSERT_TRUE(jobs.wait(kLongMs));
  QCoreApplication::processEvents();
  EXPECT_FALSE(shown);
}

TEST(Jobs, DestroyedJobsDeliverNoResult) {
  Gate gate;
  bool shown = false;
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  {
    Jobs jobs;
    jobs.Ask(
        [&gate, held] {
          gate.begun.release();
          gate.open.acquire();
          return *held;
        },
        [&](const absl::StatusOr<int>&) { shown = true; });
    held.reset();
    gate.begun.acquire();
  }
  gate.open.release();
  ASSERT_TRUE(WaitFor([&] { return watch.expired(); }));
  QCoreApplication::processEvents();
  EXPECT_FALSE(shown);
}

TEST(Jobs, ResultCallbackMayDestroyJobs) {
  auto jobs = std::make_unique<Jobs>();
  bool shown = false;
  jobs->Ask([] { return 1; },
            [&](const absl::StatusOr<int>&) {
              jobs.reset();
              shown = true;
            });
  EXPECT_TRUE(WaitFor([&] { return shown; }));
}

TEST(Jobs, BlockingJobsDoNotUseUpThePool) {
  Jobs blocked, jobs;
  const int threads = JobPool().maxThreadCount();
  std::vector<std::unique_ptr<Gate>> gates;
  for (int i = 0; i < threads + 2; ++i) {
    gates.push_back(std::make_unique<Gate>());
    blocked.Ask(gates.back()->Job(i), [](const absl::StatusOr<int>&) {},
                {.earlier = Earlier::kAll, .blocks = true});
  }
  for (const auto& gate : gates) gate->begun.acquire();
  int answer = 0;
  jobs.Ask([] { return 5; }, [&](const absl::StatusOr<int>& a) { answer = a.value(); });
  EXPECT_TRUE(WaitFor([&] { return answer == 5; }));
  EXPECT_FALSE(blocked.wait(1));
  for (const auto& gate : gates) gate->open.release();
  blocked.finish();
  EXPECT_EQ(JobPool().maxThreadCount(), threads);
}

TEST(Jobs, ProgressAndPostsArriveBeforeTheResult) {
  Jobs jobs;
  Gate gate;
  std::binary_semaphore may_begin{0};
  std::vector<std::string> arrived;
  jobs.Ask(
      [&](const JobToken& token) {
        may_begin.acquire();
        token.setProgress(0.25);
        token.post([&] { arrived.push_back("post"); });
        return gate.Job(0)();
      },
      [&](const absl::StatusOr<int>&) { arrived.push_back("answer"); });
  EXPECT_EQ(jobs.fraction(), -1);
  may_begin.release();
  gate.begun.acquire();
  EXPECT_EQ(jobs.fraction(), 0.25);
  int changes = 0;
  QObject::connect(&jobs, &Jobs::changed, &jobs, [&] { ++changes; });
  ASSERT_TRUE(WaitFor([&] { return changes > 0; })) << "progress is reported during the work";
  gate.open.release();
  ASSERT_TRUE(WaitFor([&] { return !jobs.busy(); }));
  EXPECT_EQ(arrived, (std::vector<std::string>{"post", "answer"}));
}

TEST(Jobs, HigherPriorityStartsFirst) {
  Jobs jobs;
  std::vector<std::unique_ptr<Gate>> gates;
  for (int i = 0; i < JobPool().maxThreadCount(); ++i) {
    gates.push_back(std::make_unique<Gate>());
    jobs.Ask(gates.back()->Job(i), [](const absl::StatusOr<int>&) {}, {.earlier = Earlier::kAll});
  }
  for (const auto& gate : gates) gate->begun.acquire();
  std::mutex mutex;
  std::vector<int> begun;
  for (const int priority : {0, 5, 1})
    jobs.Ask(
        [&, priority] {
          const std::lock_guard lock(mutex);
          begun.push_back(priority);
        },
        [](const absl::Status&) {}, {.earlier = Earlier::kAll, .priority = priority});
  gates.front()->open.release();  // one thread runs all three
  ASSERT_TRUE(WaitFor([&] {
    const std::lock_guard lock(mutex);
    return begun.size() == 3;
  }));
  EXPECT_EQ(begun, (std::vector{5, 1, 0}));
  for (size_t i = 1; i < gates.size(); ++i) gates[i]->open.release();
  jobs.finish();
}

TEST(ReleaseLater, FreesOnAnotherThread) {
  struct Thing {
    explicit Thing(std::atomic<QThread*>* at) : freed_on(at) {}
    ~Thing() { *freed_on = QThread::currentThread(); }
    std::atomic<QThread*>* freed_on;
  };
  std::atomic<QThread*> freed_on = nullptr;
  ReleaseLater(std::make_shared<Thing>(&freed_on));
  ASSERT_TRUE(WaitFor([&] { return freed_on != nullptr; }));
  EXPECT_NE(freed_on, QThread::currentThread());
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  QCoreApplication app(argc, argv);
  return RUN_ALL_TESTS();
}
