// Assembles traces from frames as a worker would send them. Some frames are late, missing or
// damaged, or arrive while the assembly is being destroyed.
#include "ui/worker/assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::ui {
namespace {

using trace::Frame;
using trace::FrameType;
using trace::Trace;
namespace streams = trace::testing;

// Returns the frames that a worker would send for the stream, with batches of `piece` events.
std::vector<Frame> FramesOf(const streams::Stream& stream, size_t piece) {
  trace::FrameDecoder decoder;
  auto writer = trace::TraceWriter::ToSink([&](std::string_view bytes) {
    decoder.Append(bytes);
    return absl::OkStatus();
  });
  writer->Begin(stream.info);
  writer->Strings(0, stream.strings);
  for (size_t at = 0; at < stream.events.size(); at += piece) {
    const std::span<const trace::Event> events(stream.events);
    writer->Events(events.subspan(at, std::min(piece, events.size() - at)));
    writer->Flush();
  }
  writer->Activities(stream.activities);
  writer->End(true, "");
  EXPECT_TRUE(writer->Close().ok());
  std::vector<Frame> frames;
  for (auto frame = decoder.Next(); frame.ok() && frame->has_value(); frame = decoder.Next())
    frames.push_back(std::move(**frame));
  return frames;
}

// Returns the frame in the form in which it arrives, with its checksum not yet verified.
trace::RawFrame Sent(const Frame& frame) {
  trace::FrameDecoder decoder;
  decoder.Append(trace::EncodeFrame(frame.type, frame.payload, trace::Compression::kFast));
  return **decoder.NextUnverified();
}

streams::Stream RunOf(size_t events) {
  streams::Stream run = streams::TrainingStream({.layers = 4, .steps = 50, .max_events = events});
  for (uint32_t i = 0; i < 300; ++i)
    run.activities.push_back({.stream = i % 3, .begin_ns = 100 * (300 - i), .end_ns = 50'000});
  return run;
}

size_t Find(const std::vector<Frame>& frames, FrameType type, size_t skip = 0) {
  for (size_t i = 0; i < frames.size(); ++i)
    if (frames[i].type == type && skip-- == 0) return i;
  ADD_FAILURE() << "no such frame";
  return 0;
}

std::shared_ptr<const Trace> Assemble(const std::vector<Frame>& frames, absl::Status* refused) {
  Assembly assembly({});
  for (const Frame& frame : frames) assembly.Add(Sent(frame));
  *refused = assembly.Settle();
  return assembly.Finish("the worker is gone");
}

TEST(Assembly, CompleteStreamYieldsTheWholeTrace) {
  const streams::Stream run = RunOf(20'000);
  absl::Status refused;
  const auto trace = Assemble(FramesOf(run, 700), &refused);
  EXPECT_TRUE(refused.ok()) << refused;
  EXPECT_EQ(streams::Difference(*trace, *streams::Build(run)), "");
}

// Activities may arrive before or after the events that they belong to.
TEST(Assembly, AcceptsActivitiesBeforeTheirEvents) {
  const streams::Stream run = RunOf(5'000);
  std::vector<Frame> frames = FramesOf(run, 700);
  const size_t late = Find(frames, FrameType::kActivities);
  const size_t first = Find(frames, FrameType::kEvents);
  std::rotate(frames.begin() + static_cast<ptrdiff_t>(first),
              frames.begin() + static_cast<ptrdiff_t>(late),
              frames.begin() + static_cast<ptrdiff_t>(late) + 1);
  absl::Status refused;
  const auto trace = Assemble(frames, &refused);
  EXPECT_TRUE(refused.ok()) << refused;
  EXPECT_EQ(streams::Difference(*trace, *streams::Build(run)), "");
}

// Events must arrive in order. If a batch is missing, duplicate, misplaced or truncated, only the
// events before it may be kept.
TEST(Assembly, KeepsEventsBeforeAnOutOfOrderBatch) {
  const streams::Stream run = RunOf(5'000);
  const std::vector<Frame> all = FramesOf(run, 700);
  const size_t third = Find(all, FrameType::kEvents, 2), fourth = Find(all, FrameType::kEvents, 3);
  for (const int how : {0, 1, 2, 3}) {
    SCOPED_TRACE(how);
    std::vector<Frame> frames = all;
    if (how == 0) frames.erase(frames.begin() + static_cast<ptrdiff_t>(third));
    if (how == 1) frames.insert(frames.begin() + static_cast<ptrdiff_t>(third), frames[third - 1]);
    if (how == 2) std::swap(frames[third], frames[fourth]);
    if (how == 3) frames[third].payload.resize(frames[third].payload.size() / 2);
    absl::Status refused;
    const auto trace = Assemble(frames, &refused);
    EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss) << refused;
    ASSERT_NE(trace, nullptr);
    EXPECT_FALSE(trace->complete);
    EXPECT_GE(trace->events.size(), 1'400u);
    EXPECT_LT(trace->events.size(), 2'100u);
    EXPECT_EQ(streams::PrefixDifference(*trace, *streams::Build(run)), "");
  }
}

TEST(Assembly, StreamWithoutEndYieldsIncompleteTrace) {
  const streams::Stream run = RunOf(3'000);
  std::vector<Frame> frames = FramesOf(run, 700);
  frames.resize(Find(frames, FrameType::kEvents, 2));
  absl::Status refused;
  const auto trace = Assemble(frames, &refused);
  EXPECT_TRUE(refused.ok());
  ASSERT_NE(trace, nullptr);
  EXPECT_FALSE(trace->complete);
  EXPECT_EQ(trace->end_message, "the worker is gone");
  EXPECT_EQ(trace->events.size(), 1'400u);
  frames.resize(Find(frames, FrameType::kEvents));
  EXPECT_EQ(Assemble(frames, &refused), nullptr);
  EXPECT_EQ(Assembly({}).Finish(""), nullptr);
}

// Each partial trace must be a prefix of the whole trace and have more events than the one before.
TEST(Assembly, PartialTracesArePrefixesOfTheTrace) {
  const streams::Stream run = RunOf(30'000);
  std::vector<std::shared_ptr<const Trace>> partials;
  std::shared_ptr<const Trace> whole;
  {
    Assembly assembly([&](std::shared_ptr<const Trace> so_far) { partials.push_back(so_far); });
    int frames = 0;
    for (const Frame& frame : FramesOf(run, 500)) {
      assembly.Add(Sent(frame));
      if (++frames % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(120));
    }
    EXPECT_TRUE(assembly.Settle().ok());
    whole = assembly.Finish("");
  }
  ASSERT_GE(partials.size(), 2u);
  uint32_t events = 0;
  for (const auto& partial : partials) {
    EXPECT_GT(partial->events.size(), std::exchange(events, partial->events.size()));
    EXPECT_EQ(streams::PrefixDifference(*partial, *whole), "");
  }
}

// FinishLater() must call `done` on the assembly's thread after all frames. So the window's thread
// never has to wait.
TEST(Assembly, FinishLaterRunsOnItsThreadAfterAllFrames) {
  const std::vector<Frame> frames = FramesOf(RunOf(3000), 200);
  struct Result {
    std::string refused;
    std::shared_ptr<const Trace> trace;
    std::thread::id thread;
  };
  const auto finish = [](const std::vector<Frame>& of, std::string reason) {
    std::promise<Result> result;
    Assembly assembly({});
    for (const Frame& frame : of) assembly.Add(Sent(frame));
    assembly.FinishLater(std::move(reason), [&](std::string refused, auto trace) {
      result.set_value({std::move(refused), std::move(trace), std::this_thread::get_id()});
    });
    return result.get_future().get();
  };
  const Result whole = finish(frames, "");
  EXPECT_EQ(whole.refused, "");
  EXPECT_NE(whole.thread, std::this_thread::get_id());
  ASSERT_NE(whole.trace, nullptr);
  EXPECT_TRUE(whole.trace->complete);
  absl::Status refused;
  EXPECT_EQ(whole.trace->events.size(), Assemble(frames, &refused)->events.size());

  std::vector<Frame> cut = frames;
  std::erase_if(cut, [](const Frame& frame) { return frame.type == FrameType::kFooter; });
  EXPECT_EQ(finish(cut, "cancelled").trace->end_message, "cancelled");

  std::vector<Frame> damaged = frames;
  damaged[Find(frames, FrameType::kEvents, 3)].payload.resize(10);
  const Result partly = finish(damaged, "");
  EXPECT_THAT(partly.refused, ::testing::HasSubstr("could not be decoded"));
  ASSERT_NE(partly.trace, nullptr);
  EXPECT_LT(partly.trace->events.size(), whole.trace->events.size());
  EXPECT_EQ(finish({}, "").trace, nullptr);
}

// Checksums are verified on the assembly's thread, so Add() reports no error. After a damaged
// frame, all others must be dropped.
TEST(Assembly, DetectsDamagedFramesOnItsThread) {
  const std::vector<Frame> frames = FramesOf(RunOf(3000), 200);
  for (const bool checksum : {true, false}) {
    std::promise<std::pair<std::string, std::thread::id>> result;
    std::atomic<int> times = 0;
    Assembly assembly({}, [&](const absl::Status& why) {
      if (times++ == 0) result.set_value({std::string(why.message()), std::this_thread::get_id()});
    });
    size_t compressed = 0;
    for (const Frame& frame : frames) {
      trace::RawFrame sent = Sent(frame);
      if (frame.type == FrameType::kEvents) {
        compressed += sent.compressed ? 1 : 0;
        if (checksum) {
          sent.checksum ^= 1;
        } else {  // so that the error is found during decompression
          sent.verified = true;
          ++sent.payload_size;
        }
      }
      assembly.Add(std::move(sent));
    }
    ASSERT_GT(compressed, 1u);
    const auto [why, thread] = result.get_future().get();
    EXPECT_NE(thread, std::this_thread::get_id());
    EXPECT_EQ(why.find("wrong checksum") != std::string::npos, checksum) << why;
    EXPECT_EQ(assembly.Settle().message(), why);
    EXPECT_EQ(times, 1);
  }
}

// While the thread is busy, Add() must not wait. Otherwise, this test would never end.
TEST(Assembly, AddNeverWaitsForABusyThread) {
  std::promise<void> busy, go_on;
  std::atomic<bool> first = true;
  Assembly assembly({}, [&, until = go_on.get_future().share()](const absl::Status&) {
    if (!first.exchange(false)) return;
    busy.set_value();
    until.wait();
  });
  const Frame events{FrameType::kEvents, std::string(1000, 'x')};
  trace::RawFrame damaged = Sent(events);
  damaged.checksum ^= 1;
  assembly.Add(damaged);
  busy.get_future().wait();
  for (int i = 0; i < 200; ++i) {
    trace::RawFrame large = Sent(events);
    large.stored.assign(size_t{1} << 20, 'x');
    assembly.Add(std::move(large));
  }
  go_on.set_value();
  EXPECT_EQ(assembly.Settle().code(), absl::StatusCode::kDataLoss);
}

// If the thread accessed the destroyed object, a sanitizer would report it.
TEST(Assembly, CanBeDestroyedWhileDecoding) {
  const std::vector<Frame> frames = FramesOf(RunOf(20'000), 100);
  for (int round = 0; round < 20; ++round) {
    Assembly assembly([](const std::shared_ptr<const Trace>&) {});
    for (size_t i = 0; i < frames.size() * static_cast<size_t>(round) / 20; ++i)
      assembly.Add(Sent(frames[i]));
  }
}

// The thread may be in a callback that uses objects of the owner, so the destructor must wait.
TEST(Assembly, DestructorWaitsForTheThread) {
  const std::vector<Frame> frames = FramesOf(RunOf(3'000), 200);
  std::promise<void> busy;
  std::atomic<bool> finished = false;
  {
    Assembly assembly({}, [&](const absl::Status&) {
      busy.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      finished = true;
    });
    trace::RawFrame damaged = Sent(frames.front());
    damaged.checksum ^= 1;
    assembly.Add(std::move(damaged));
    for (const Frame& frame : frames) assembly.Add(Sent(frame));
    busy.get_future().wait();
  }
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace vramscope::ui
