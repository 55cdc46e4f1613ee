// Tests what the platform reports about calls that submit work to the GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "emulated/core/kernels.h"
#include "emulated/core/platform.h"
#include "emulated/core/recorder.h"

namespace vramscope::emulated {
namespace {

// Sets the variables before the platform is used, because they are read only once.
const int kEnvironment = setenv("VRAMSCOPE_EMULATED_GPU",
                                "name=Test Card;memory_bytes=8589934592;sm_count=20;"
                                "max_threads_per_sm=1536;compute_capability=86",
                                1) |
                         unsetenv("VRAMSCOPE_EMULATED_DEVICES") |
                         unsetenv("VRAMSCOPE_EMULATED_OUTPUT");

class WorkRecorder final : public Recorder {
 public:
  void OnWork(const Activity& activity) override { work.push_back(activity); }
  void OnMemory(const MemoryActivity&) override {}
  void OnSynchronize(const Synchronization&) override {}
  std::vector<Activity> work;
};

// In a thread of autograd, the caching allocator polls whether streams have finished before the
// thread launches anything.
TEST(Work, CallEndsAfterItBeginsInThreadThatPolled) {
  ASSERT_EQ(kEnvironment, 0);
  auto* recorder = new WorkRecorder;  // exists until the process ends
  SetRecorder(recorder);
  Streams& streams = ThePlatform().streams;
  void *event = nullptr, *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(streams.CreateEvent(0, 0, &event), Result::kSuccess);
  const auto launch = [] {
    EXPECT_EQ(Submit({.name = "kernel", .duration_ns = 50'000'000}), Result::kSuccess);
  };
  std::thread([&] {
    launch();
    EXPECT_EQ(streams.Record(event, nullptr), Result::kSuccess);
    void* stream = nullptr;
    EXPECT_EQ(streams.Create(0, 1, 0, &stream), Result::kSuccess);
    EXPECT_EQ(streams.BeginCapture(stream, CaptureMode::kRelaxed, nullptr), Result::kSuccess);
    EXPECT_EQ(Submit({.name = "captured", .stream = stream, .duration_ns = 10}), Result::kSuccess);
    EXPECT_EQ(streams.EndCapture(stream, &graph), Result::kSuccess);
    EXPECT_EQ(streams.Instantiate(graph, &executable), Result::kSuccess);
  }).join();
  const auto after_a_query = [&](const std::function<void()>& call) {
    std::thread([&] {
      EXPECT_EQ(streams.QueryEvent(event), Result::kNotReady);
      call();
    }).join();
  };
  after_a_query(launch);
  after_a_query([&] { streams.LaunchGraph(executable, nullptr); });
  ASSERT_EQ(recorder->work.size(), 3u);
  for (const Activity& work : recorder->work) EXPECT_LE(work.call_begin_ns, work.call_end_ns);
  after_a_query([&] {
    const RepeatedMove made = streams.Repeat(ClockMove::kWork, 10, false);
    EXPECT_LE(made.call_begin_ns, made.call_end_ns);
  });
}

}  // namespace
}  // namespace vramscope::emulated
