// Tests capture into graphs as PyTorch uses it, and calls that CUDA refuses during capture.
#include <gtest/gtest.h>

#include <thread>

#include "emulated/core/streams.h"

namespace vramscope::emulated {
namespace {

class CaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    streams_.Create(0, 1, 0, &origin_);
    streams_.Create(0, 1, 0, &side_);
  }
  Result Work(void* stream, int64_t duration, std::function<void()> effect = {}) {
    Interval when;
    bool captured = false;
    const Result result = streams_.Enqueue(
        stream, {.kind = NodeKind::kHost, .duration_ns = duration, .effect = std::move(effect)},
        &when, &captured);
    captured_ = captured;
    return result;
  }

  Clock clock_;
  Streams streams_{&clock_, 1};
  void *origin_ = nullptr, *side_ = nullptr, *graph_ = nullptr;
  bool captured_ = false;
};

TEST_F(CaptureTest, CapturedWorkRunsOnEachGraphLaunch) {
  int done = 0;
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
  const int64_t before = clock_.now();
  EXPECT_EQ(Work(origin_, 1'000'000, [&] { ++done; }), Result::kSuccess);
  EXPECT_TRUE(captured_);
  EXPECT_EQ(Work(origin_, 2'000'000, [&] { ++done; }), Result::kSuccess);
  EXPECT_EQ(clock_.now(), before + 2 * Clock::kSubmitNs);  // only host time; no work has run
  EXPECT_EQ(done, 0);
  ASSERT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);

  std::vector<void*> nodes, after;
  ASSERT_EQ(streams_.NodesOf(graph_, &nodes), Result::kSuccess);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(streams_.DependenciesOf(nodes[1], &after), Result::kSuccess);
  EXPECT_EQ(after, std::vector<void*>{nodes[0]});

  void* executable = nullptr;
  ASSERT_EQ(streams_.Instantiate(graph_, &executable), Result::kSuccess);
  EXPECT_EQ(streams_.DestroyGraph(graph_), Result::kSuccess);  // the executable graph stays valid
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(streams_.LaunchGraph(executable, origin_), Result::kSuccess);
    EXPECT_EQ(done, 2 * i);
  }
  EXPECT_EQ(streams_.Synchronize(origin_), Result::kSuccess);
  EXPECT_GE(clock_.now(), before + 9'000'000);
  EXPECT_EQ(streams_.DestroyExecutable(executable), Result::kSuccess);
  EXPECT_EQ(streams_.LaunchGraph(executable, origin_), Result::kInvalidHandle);
}

TEST_F(CaptureTest, StreamJoinsCaptureThroughEvent) {
  void *fork = nullptr, *join = nullptr;
  streams_.CreateEvent(0, 0, &fork);
  streams_.CreateEvent(0, 0, &join);
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
  Work(origin_, 10);
  streams_.Record(fork, origin_);
  EXPECT_EQ(streams_.Wait(side_, fork), Result::kSuccess);
  Work(side_, 10);
  EXPECT_TRUE(captured_);
  Work(origin_, 10);
  streams_.Record(join, side_);
  EXPECT_EQ(streams_.Wait(origin_, join), Result::kSuccess);
  CaptureFacts facts;
  ASSERT_EQ(streams_.CaptureOf(origin_, &facts), Result::kSuccess);
  EXPECT_TRUE(facts.capturing);
  EXPECT_EQ(facts.after.size(), 2u);  // its own node and that of `side_`
  ASSERT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);
  ASSERT_EQ(streams_.CaptureOf(side_, &facts), Result::kSuccess);
  EXPECT_FALSE(facts.capturing);
}

TEST_F(CaptureTest, WaitOnEventOfEndedCaptureFails) {
  void* event = nullptr;
  streams_.CreateEvent(0, 0, &event);
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
  Work(origin_, 10);
  streams_.Record(event, origin_);
  EXPECT_EQ(streams_.QueryEvent(event), Result::kCapturedEvent);
  ASSERT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);
  EXPECT_EQ(streams_.Wait(side_, event), Result::kCapturedEvent);
  EXPECT_EQ(streams_.SynchronizeEvent(event), Result::kCapturedEvent);
  CaptureFacts facts;
  ASSERT_EQ(streams_.CaptureOf(side_, &facts), Result::kSuccess);
  EXPECT_FALSE(facts.capturing);
  EXPECT_EQ(Work(side_, 10), Result::kSuccess);
  EXPECT_FALSE(captured_);
  // An event that is recorded again outside a capture is an ordinary event.
  EXPECT_EQ(streams_.Record(event, origin_), Result::kSuccess);
  EXPECT_EQ(streams_.Wait(side_, event), Result::kSuccess);
}

TEST_F(CaptureTest, GraphLaunchInCaptureBecomesNode) {
  int done = 0;
  void *inner = nullptr, *outer = nullptr;
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
  Work(origin_, 2'000'000, [&] { done += 1; });
  Work(origin_, 3'000'000, [&] { done += 10; });
  ASSERT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);
  ASSERT_EQ(streams_.Instantiate(graph_, &inner), Result::kSuccess);

  ASSERT_EQ(streams_.BeginCapture(side_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
  Work(side_, 1'000'000, [&] { done += 100; });
  EXPECT_EQ(streams_.LaunchGraph(inner, side_), Result::kSuccess);
  void* whole = nullptr;
  ASSERT_EQ(streams_.EndCapture(side_, &whole), Result::kSuccess);
  EXPECT_EQ(done, 0);
  std::vector<void*> nodes, after;
  ASSERT_EQ(streams_.NodesOf(whole, &nodes), Result::kSuccess);
  ASSERT_EQ(nodes.size(), 2u);
  NodeKind kind = NodeKind::kEmpty;
  EXPECT_EQ(streams_.KindOf(nodes[1], &kind), Result::kSuccess);
  EXPECT_EQ(kind, NodeKind::kGraph);
  EXPECT_EQ(streams_.DependenciesOf(nodes[1], &after), Result::kSuccess);
  EXPECT_EQ(after, std::vector<void*>{nodes[0]});

  ASSERT_EQ(streams_.Instantiate(whole, &outer), Result::kSuccess);
  EXPECT_EQ(streams_.DestroyExecutable(inner), Result::kSuccess);  // the node keeps `inner` alive
  ASSERT_EQ(streams_.Synchronize(side_), Result::kSuccess);
  const int64_t before = clock_.now();
  EXPECT_EQ(streams_.LaunchGraph(outer, side_), Result::kSuccess);
  EXPECT_EQ(done, 111);
  EXPECT_EQ(streams_.Synchronize(side_), Result::kSuccess);
  EXPECT_GE(clock_.now(), before + 6'000'000);
  EXPECT_LT(clock_.now(), before + 7'000'000);
}

TEST_F(CaptureTest, ChildGraphIsCopied) {
  int done = 0;
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
  Work(origin_, 1'000, [&] { ++done; });
  ASSERT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);
  void *parent = streams_.CreateGraph(), *node = nullptr, *executable = nullptr;
  EXPECT_EQ(streams_.AddChildGraph(parent, graph_, {}, &node), Result::kSuccess);
  EXPECT_EQ(streams_.AddChildGraph(parent, nullptr, {}, &node), Result::kInvalidHandle);
  EXPECT_EQ(streams_.AddChildGraph(parent, parent, {}, &node), Result::kInvalidValue);
  EXPECT_EQ(streams_.DestroyGraph(graph_), Result::kSuccess);
  ASSERT_EQ(streams_.Instantiate(parent, &executable), Result::kSuccess);
  EXPECT_EQ(streams_.LaunchGraph(executable, side_), Result::kSuccess);
  EXPECT_EQ(done, 1);
}

TEST_F(CaptureTest, ExecutableIsUpdatedFromAnotherGraph) {
  int first = 0, second = 0;
  void *executable = nullptr, *clone = nullptr;
  const auto capture = [&](int* counter) {
    EXPECT_EQ(streams_.BeginCapture(origin_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
    Work(origin_, 10, [counter] { ++*counter; });
    EXPECT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);
    return graph_;
  };
  ASSERT_EQ(streams_.Instantiate(capture(&first), &executable), Result::kSuccess);
  ASSERT_EQ(streams_.CloneGraph(capture(&second), &clone), Result::kSuccess);
  EXPECT_EQ(streams_.DestroyGraph(graph_), Result::kSuccess);
  EXPECT_EQ(streams_.UpdateExecutable(executable, graph_), Result::kInvalidHandle);
  EXPECT_EQ(streams_.UpdateExecutable(executable, clone), Result::kSuccess);
  EXPECT_EQ(streams_.LaunchGraph(executable, origin_), Result::kSuccess);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST_F(CaptureTest, ForbiddenCallsInvalidateCapture) {
  EXPECT_EQ(streams_.BeginCapture(nullptr, CaptureMode::kGlobal, nullptr),
            Result::kCaptureUnsupported);  // the legacy stream
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
  EXPECT_EQ(streams_.Permitted(), Result::kCaptureUnsupported);
  EXPECT_EQ(streams_.SynchronizeDevice(0), Result::kCaptureUnsupported);
  std::thread([&] { EXPECT_EQ(streams_.Permitted(), Result::kCaptureUnsupported); }).join();
  const CaptureMode before = Streams::ExchangeMode(CaptureMode::kRelaxed);
  EXPECT_EQ(streams_.Permitted(), Result::kSuccess);
  Streams::ExchangeMode(before);
  EXPECT_EQ(streams_.EndCapture(side_, &graph_), Result::kInvalidValue);
  EXPECT_EQ(streams_.Synchronize(origin_), Result::kCaptureUnsupported);
  EXPECT_EQ(Work(origin_, 10), Result::kCaptureInvalidated);
  EXPECT_EQ(streams_.EndCapture(origin_, &graph_), Result::kCaptureInvalidated);
  EXPECT_EQ(graph_, nullptr);
  EXPECT_EQ(streams_.Permitted(), Result::kSuccess);
  EXPECT_EQ(Work(origin_, 10), Result::kSuccess);
  EXPECT_FALSE(captured_);
}

TEST_F(CaptureTest, ThreadLocalCaptureAllowsCallsOfOtherThreads) {
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kThreadLocal, nullptr), Result::kSuccess);
  EXPECT_EQ(streams_.Permitted(), Result::kCaptureUnsupported);
  std::thread([&] { EXPECT_EQ(streams_.Permitted(), Result::kSuccess); }).join();
  EXPECT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);
}

}  // namespace
}  // namespace vramscope::emulated
