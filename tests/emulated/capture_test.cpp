// Capture into graphs as PyTorch uses it, and what a card refuses meanwhile.
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

TEST_F(CaptureTest, WorkBecomesNodesAndIsReplayed) {
  int done = 0;
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kGlobal, nullptr), Result::kSuccess);
  const int64_t before = clock_.now();
  EXPECT_EQ(Work(origin_, 1'000'000, [&] { ++done; }), Result::kSuccess);
  EXPECT_TRUE(captured_);
  EXPECT_EQ(Work(origin_, 2'000'000, [&] { ++done; }), Result::kSuccess);
  EXPECT_EQ(clock_.now(), before + 2 * Clock::kSubmitNs);  // the host's; nothing has run
  EXPECT_EQ(done, 0);
  ASSERT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);

  std::vector<void*> nodes, after;
  ASSERT_EQ(streams_.NodesOf(graph_, &nodes), Result::kSuccess);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(streams_.DependenciesOf(nodes[1], &after), Result::kSuccess);
  EXPECT_EQ(after, std::vector<void*>{nodes[0]});

  void* executable = nullptr;
  ASSERT_EQ(streams_.Instantiate(graph_, &executable), Result::kSuccess);
  EXPECT_EQ(streams_.DestroyGraph(graph_), Result::kSuccess);  // the executable lives on
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(streams_.LaunchGraph(executable, origin_), Result::kSuccess);
    EXPECT_EQ(done, 2 * i);
  }
  EXPECT_EQ(streams_.Synchronize(origin_), Result::kSuccess);
  EXPECT_GE(clock_.now(), before + 9'000'000);
  EXPECT_EQ(streams_.DestroyExecutable(executable), Result::kSuccess);
  EXPECT_EQ(streams_.LaunchGraph(executable, origin_), Result::kInvalidHandle);
}

TEST_F(CaptureTest, AnotherStreamJoinsByAnEvent) {
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
  ASSERT_EQ(streams_.LookCapture(origin_, &facts), Result::kSuccess);
  EXPECT_TRUE(facts.capturing);
  EXPECT_EQ(facts.after.size(), 2u);  // its own and the other's
  ASSERT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);
  ASSERT_EQ(streams_.LookCapture(side_, &facts), Result::kSuccess);
  EXPECT_FALSE(facts.capturing);
}

TEST_F(CaptureTest, WhatACardRefuses) {
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

TEST_F(CaptureTest, ThreadLocalCaptureLeavesOtherThreadsAlone) {
  ASSERT_EQ(streams_.BeginCapture(origin_, CaptureMode::kThreadLocal, nullptr), Result::kSuccess);
  EXPECT_EQ(streams_.Permitted(), Result::kCaptureUnsupported);
  std::thread([&] { EXPECT_EQ(streams_.Permitted(), Result::kSuccess); }).join();
  EXPECT_EQ(streams_.EndCapture(origin_, &graph_), Result::kSuccess);
}

}  // namespace
}  // namespace vramscope::emulated
