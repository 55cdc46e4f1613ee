#include "emulated/core/streams.h"

#include <gtest/gtest.h>

#include <thread>

namespace vramscope::emulated {
namespace {

// Runs the function in a new thread: the platform remembers which threads submit
// work.
template <typename Function>
void InThread(Function&& function) {
  std::thread(std::forward<Function>(function)).join();
}

class StreamsTest : public testing::Test {
 protected:
  void* NewStream(unsigned flags = 1) {
    void* stream = nullptr;
    EXPECT_EQ(streams_.Create(0, flags, 0, &stream), Result::kSuccess);
    return stream;
  }
  void* NewEvent() {
    void* event = nullptr;
    EXPECT_EQ(streams_.CreateEvent(0, 0, &event), Result::kSuccess);
    return event;
  }
  Interval Work(void* stream, int64_t duration) {
    Interval when;
    bool captured = false;
    EXPECT_EQ(streams_.Enqueue(stream, {.duration_ns = duration}, &when, &captured),
              Result::kSuccess);
    return when;
  }

  Clock clock_;
  Streams streams_{&clock_, 2};
};

TEST_F(StreamsTest, HostRunsAheadOfTheStream) {
  InThread([&] {
    void* stream = NewStream();
    const Interval first = Work(stream, 1'000'000), second = Work(stream, 1'000'000);
    EXPECT_EQ(first.start_ns, Clock::kSubmitNs);
    EXPECT_EQ(second.start_ns, first.end_ns);
    EXPECT_EQ(clock_.now(), 2 * Clock::kSubmitNs);
    EXPECT_EQ(streams_.Query(stream), Result::kNotReady);
    EXPECT_EQ(streams_.Synchronize(stream), Result::kSuccess);
    EXPECT_EQ(clock_.now(), second.end_ns);
    EXPECT_EQ(streams_.Query(stream), Result::kSuccess);
  });
}

TEST_F(StreamsTest, EventsOrderStreams) {
  InThread([&] {
    void *a = NewStream(), *b = NewStream();
    void *before = NewEvent(), *after = NewEvent();
    EXPECT_EQ(streams_.QueryEvent(after),
              Result::kSuccess);  // an event that was never recorded counts as complete
    streams_.Record(before, a);
    const Interval long_one = Work(a, 5'000'000);
    streams_.Record(after, a);
    EXPECT_EQ(streams_.QueryEvent(after), Result::kNotReady);
    EXPECT_EQ(streams_.Wait(b, after), Result::kSuccess);
    EXPECT_GE(Work(b, 10).start_ns, long_one.end_ns);
    float milliseconds = 0;
    EXPECT_EQ(streams_.Elapsed(before, after, &milliseconds), Result::kNotReady);
    EXPECT_EQ(streams_.SynchronizeEvent(after), Result::kSuccess);
    EXPECT_EQ(streams_.Elapsed(before, after, &milliseconds), Result::kSuccess);
    EXPECT_NEAR(milliseconds, 5.0, 0.1);
  });
}

TEST_F(StreamsTest, DefaultStreamWaitsForBlockingStreams) {
  InThread([&] {
    void *blocking = NewStream(0), *free = NewStream(1);
    const Interval slow = Work(blocking, 1'000'000), other = Work(free, 9'000'000);
    const Interval by_default = Work(nullptr, 10);
    EXPECT_GE(by_default.start_ns, slow.end_ns);
    EXPECT_LT(by_default.start_ns, other.end_ns);
  });
}

TEST_F(StreamsTest, QueryOnlyThreadDoesNotAdvanceTheClock) {
  void* event = NewEvent();
  InThread([&] {
    Work(nullptr, 50'000'000);
    streams_.Record(event, nullptr);
  });
  const int64_t before = clock_.now();
  InThread([&] {
    int queries = 0;
    while (streams_.QueryEvent(event) == Result::kNotReady) {
      ASSERT_LT(++queries, 1000) << "it would wait forever";
    }
    EXPECT_GT(queries, 0);
    EXPECT_EQ(streams_.SynchronizeEvent(event), Result::kSuccess);
  });
  EXPECT_EQ(clock_.now(), before);
  InThread([&] {  // for a thread that submits work, the event is still pending
    Work(nullptr, 10);
    EXPECT_EQ(streams_.QueryEvent(event), Result::kNotReady);
  });
}

TEST_F(StreamsTest, WaitOnlyThreadSeesCompletedEvents) {
  void *first = NewEvent(), *second = NewEvent();
  InThread([&] {
    streams_.Record(first, nullptr);
    Work(nullptr, 50'000'000);
    streams_.Record(second, nullptr);
  });
  const int64_t before = clock_.now();
  InThread([&] {
    float milliseconds = 0;
    EXPECT_EQ(streams_.Elapsed(first, second, &milliseconds), Result::kNotReady);
    EXPECT_EQ(streams_.SynchronizeEvent(second), Result::kSuccess);
    EXPECT_EQ(streams_.Elapsed(first, second, &milliseconds), Result::kSuccess);
    EXPECT_NEAR(milliseconds, 50, 0.1);
    EXPECT_EQ(streams_.QueryEvent(second), Result::kSuccess);
  });
  EXPECT_EQ(clock_.now(), before);  // for other threads, no time has passed
  InThread([&] {                    // a reset also discards the time for which a thread waited
    EXPECT_EQ(streams_.SynchronizeEvent(second), Result::kSuccess);
    streams_.Reset();
    EXPECT_EQ(clock_.now(), 0);
  });
}

TEST_F(StreamsTest, EventStaysCompleteForThreadThatWaited) {
  void* event = NewEvent();
  InThread([&] {
    Work(nullptr, 50'000'000);
    streams_.Record(event, nullptr);
  });
  InThread([&] {
    EXPECT_EQ(streams_.SynchronizeEvent(event), Result::kSuccess);
    Work(NewStream(), 10);
    EXPECT_EQ(streams_.QueryEvent(event), Result::kSuccess);
  });
}

TEST_F(StreamsTest, PollingLoopForEventEnds) {
  InThread([&] {
    void* event = NewEvent();
    Work(nullptr, 3'600'000'000'000);
    streams_.Record(event, nullptr);
    int queries = 0;
    while (streams_.QueryEvent(event) == Result::kNotReady) {
      ASSERT_LT(++queries, 100000);
    }
  });
}

TEST_F(StreamsTest, HostWaitsIfStreamQueueIsFull) {
  InThread([&] {
    void* stream = NewStream();
    const Interval first = Work(stream, 1'000'000'000);
    for (size_t i = 1; i < Streams::kDepth; ++i) {
      Work(stream, 1'000'000'000);
    }
    EXPECT_LT(clock_.now(), first.end_ns);
    Work(stream, 10);
    EXPECT_EQ(clock_.now(), first.end_ns);
  });
}

TEST_F(StreamsTest, DevicesRunIndependently) {
  InThread([&] {
    void* other = nullptr;
    streams_.Create(1, 1, 0, &other);
    const Interval on_first = Work(nullptr, 7'000'000);
    EXPECT_LT(Work(other, 10).end_ns, on_first.end_ns);
    streams_.SynchronizeDevice(1);
    EXPECT_LT(clock_.now(), on_first.end_ns);
    streams_.SynchronizeDevice(0);
    EXPECT_GE(clock_.now(), on_first.end_ns);
  });
}

TEST_F(StreamsTest, RejectsInvalidHandles) {
  void* unknown = reinterpret_cast<void*>(0x1234);
  Interval when;
  bool captured = false;
  EXPECT_EQ(streams_.Enqueue(unknown, {}, &when, &captured), Result::kInvalidHandle);
  EXPECT_EQ(streams_.Destroy(unknown), Result::kInvalidHandle);
  EXPECT_EQ(streams_.Record(unknown, nullptr), Result::kInvalidHandle);
  EXPECT_EQ(streams_.QueryEvent(unknown), Result::kInvalidHandle);
  void* stream = NewStream();
  EXPECT_EQ(streams_.Destroy(stream), Result::kSuccess);
  EXPECT_EQ(streams_.Query(stream), Result::kInvalidHandle);
}

TEST_F(StreamsTest, ResetRestartsTheTimeline) {
  InThread([&] {
    void* stream = NewStream();
    const Interval first = Work(stream, 1'000'000);
    streams_.Reset();
    EXPECT_EQ(streams_.Query(stream), Result::kSuccess);
    const Interval again = Work(stream, 1'000'000);
    EXPECT_EQ(first.start_ns, again.start_ns);
    EXPECT_EQ(first.end_ns, again.end_ns);
  });
}

}  // namespace
}  // namespace vramscope::emulated
