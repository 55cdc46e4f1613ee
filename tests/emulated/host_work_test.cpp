#include "emulated/core/host_work.h"

#include <gtest/gtest.h>

#include <thread>

#include "emulated/core/clock.h"
#include "emulated/core/streams.h"

namespace vramscope::emulated {
namespace {

class HostWorkTest : public testing::Test {
 protected:
  void SetUp() override { ForgetHostThreads(); }
  void TearDown() override { ForgetHostThreads(); }
};

// Returns the launch time in a new thread, which has not reported what it runs.
int64_t OfAnotherThread() {
  int64_t takes = 0;
  std::thread([&] { takes = LaunchHostNs(); }).join();
  return takes;
}

TEST_F(HostWorkTest, LaunchWithoutPythonTakesSubmitTime) {
  EXPECT_EQ(LaunchHostNs(), Clock::kSubmitNs);
  EXPECT_EQ(OfAnotherThread(), Clock::kSubmitNs);
}

TEST_F(HostWorkTest, PythonSlowsLaunchesOfAllThreads) {
  HostRuns(HostThread::kPython);
  EXPECT_GT(LaunchHostNs(), Clock::kSubmitNs);
  EXPECT_GT(OfAnotherThread(), Clock::kSubmitNs);
}

TEST_F(HostWorkTest, LastReportedActivityDeterminesLaunchTime) {
  EXPECT_EQ(HostRuns(HostThread::kPython), HostThread::kUnsaid);
  const int64_t in_python = LaunchHostNs();
  EXPECT_EQ(HostRuns(HostThread::kOptimizer), HostThread::kPython);
  EXPECT_LT(LaunchHostNs(),
            in_python);  // an optimizer launches its kernels in a row, without building a graph
  EXPECT_EQ(HostRuns(HostThread::kPython), HostThread::kOptimizer);
  EXPECT_EQ(LaunchHostNs(), in_python);
  // A checkpoint recomputes its forward pass, which is Python code, in autograd's thread.
  const int64_t of_engine = OfAnotherThread();
  std::thread([&] {
    HostRuns(HostThread::kPython);
    EXPECT_EQ(LaunchHostNs(), in_python);
    HostRuns(HostThread::kUnsaid);
    EXPECT_EQ(LaunchHostNs(), of_engine);
  }).join();
}

TEST_F(HostWorkTest, OptimizerTimeGrowsWithItsWork) {
  EXPECT_GT(OptimizerHostNs(0, 0), 0);
  EXPECT_GT(OptimizerHostNs(100, 0), OptimizerHostNs(10, 0));
  EXPECT_GT(OptimizerHostNs(100, 300), OptimizerHostNs(100, 0));
}

TEST_F(HostWorkTest, StreamsUseLaunchTimeOfCallingThread) {
  Clock clock;
  Streams streams(&clock, 1);
  std::thread([&] {
    HostRuns(HostThread::kPython);
    Interval when;
    bool captured = false;
    ASSERT_EQ(streams.Enqueue(nullptr, {.duration_ns = 1}, &when, &captured), Result::kSuccess);
    EXPECT_EQ(when.start_ns, LaunchHostNs());
  }).join();
}

}  // namespace
}  // namespace vramscope::emulated
