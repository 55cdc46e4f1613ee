// Tests call stacks in the builder, the writer and the reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

using ::testing::HasSubstr;

class Stacks : public ::testing::Test {
 protected:
  Stacks()
      : path_(std::filesystem::temp_directory_path() / ("stacks_" + std::to_string(getpid()))) {}
  ~Stacks() override { std::filesystem::remove(path_); }
  std::shared_ptr<const Trace> Read() {
    auto trace = ReadTraceFile(path_.string(), {});
    EXPECT_TRUE(trace.ok()) << trace.status();
    return trace.ok() ? *trace : nullptr;
  }
  const std::filesystem::path path_;
};

const std::vector<std::string> kStrings = {"", "step", "optimizer.py"};

// Returns two frames, and three stacks: with both frames, with none, and with one of them.
StackIncrement Small() {
  StackIncrement s;
  s.function = {{1}, {1}};
  s.file = {{2}, {}};
  s.line = {80, 0};
  s.lengths = {2, 0, 1};
  s.frames = {1, 0, 0};
  return s;
}

TEST(StacksInBuilder, ListFramesFromTheInnermost) {
  TraceBuilder b;
  ASSERT_TRUE(b.AddStrings(0, kStrings).ok());
  ASSERT_TRUE(b.AddStacks(Small()).ok());
  StackIncrement more;
  more.first_frame = 2;
  more.first_stack = 4;
  more.lengths = {2};
  more.frames = {0, 1};
  ASSERT_TRUE(b.AddStacks(more).ok());
  Event e;
  e.kind = EventKind::kAlloc;
  e.stack = {4};
  Event freed;
  freed.kind = EventKind::kFreeCompleted;
  ASSERT_TRUE(b.AddEvents(std::vector<Event>{e, freed}).ok());
  const auto t = b.Finish(true, "");
  ASSERT_EQ(t->stacks.size(), 5u);
  EXPECT_THAT(t->stacks.Frames({1}), ::testing::ElementsAre(1, 0));
  EXPECT_THAT(t->stacks.Frames({2}), ::testing::IsEmpty());
  EXPECT_THAT(t->stacks.Frames({4}), ::testing::ElementsAre(0, 1));
  EXPECT_EQ(t->events.StackOf(0).value, 4u);
  EXPECT_EQ(t->events.StackOf(1).value, 0u);
}

TEST(StacksInBuilder, RejectInconsistentIncrements) {
  const auto refused = [](const char* what, auto change) {
    TraceBuilder b;
    EXPECT_TRUE(b.AddStrings(0, kStrings).ok());
    StackIncrement s = Small();
    change(s);
    const absl::Status status = b.AddStacks(s);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    EXPECT_TRUE(b.AddStacks(Small()).ok()) << "a part of the rejected increment was accepted";
  };
  refused("added frames begin with number", [](StackIncrement& s) { s.first_frame = 1; });
  refused("added frames begin with number", [](StackIncrement& s) { s.first_stack = 2; });
  refused("differ in length", [](StackIncrement& s) { s.line.pop_back(); });
  refused("differ in length", [](StackIncrement& s) { s.file.push_back({}); });
  refused("do not match the number", [](StackIncrement& s) { s.lengths.push_back(1); });
  refused("do not match the number", [](StackIncrement& s) { s.lengths[0] = UINT32_MAX; });
  refused("undefined string", [](StackIncrement& s) { s.file[0].value = 3; });
  refused("frame 2 is used", [](StackIncrement& s) { s.frames[2] = 2; });
}

TEST(StacksInBuilder, RejectEventBeforeItsStack) {
  TraceBuilder b;
  Event e;
  e.kind = EventKind::kAlloc;
  e.stack = {1};
  EXPECT_THAT(std::string(b.AddEvents(std::vector<Event>{e}).message()), HasSubstr("stack 1 of 1"));
}

// These tables are larger than 64 MiB, the maximum size of a frame in a file.
TEST_F(Stacks, RoundTripTablesLargerThanAFrame) {
  constexpr uint32_t kFrames = 2'200'000, kStacks = 180'000, kDepth = 100;
  testing::Stream s;
  s.strings = {"", "f"};
  s.stacks.function.assign(kFrames, {1});
  s.stacks.file.assign(kFrames, {});
  s.stacks.line.resize(kFrames);
  for (uint32_t i = 0; i < kFrames; ++i) s.stacks.line[i] = i;
  for (uint32_t i = 0; i < kStacks; ++i) {
    // Each id needs four bytes.
    for (uint32_t k = 0; k < kDepth; ++k)
      s.stacks.frames.push_back(kFrames - 1 - (i * 7 + k * 131) % 50'000);
    s.stacks.first.push_back(static_cast<uint32_t>(s.stacks.frames.size()));
  }
  Event e;
  e.kind = EventKind::kAlloc;
  e.stack = {kStacks};
  s.events = {e};
  auto writer = TraceWriter::ToFile(path_.string());
  ASSERT_TRUE(writer.ok());
  testing::Play(s, **writer);
  ASSERT_TRUE((*writer)->Close().ok());
  FrameDecoder frames;
  frames.Append(testing::ReadFile(path_.string()));
  uint64_t bytes = 0;
  for (auto f = frames.Next(); f.ok() && f->has_value(); f = frames.Next())
    if ((*f)->type == FrameType::kStacks) bytes += (*f)->payload.size();
  EXPECT_GT(bytes, uint64_t{kMaxPayload});
  const auto t = Read();
  ASSERT_NE(t, nullptr);
  EXPECT_TRUE(t->complete);
  EXPECT_TRUE(t->stacks.line == s.stacks.line);
  EXPECT_TRUE(t->stacks.frames == s.stacks.frames);
  EXPECT_TRUE(t->stacks.first == s.stacks.first);
}

TEST_F(Stacks, LimitMemoryForCompressedFiles) {
  StackIncrement s;
  s.lengths.assign(34'000'000, 0);
  std::string bytes = EncodeFrame(FrameType::kTraceHeader, EncodeHeader({}));
  for (int i = 0; i < 5; ++i) {
    s.first_stack = static_cast<uint32_t>(1 + i * s.lengths.size());
    bytes += EncodeFrame(FrameType::kStacks, EncodeStacks(s));
  }
  ASSERT_LT(bytes.size(), 100'000u);
  testing::WriteFile(path_.string(), bytes);
  const absl::Status status = ReadTraceFile(path_.string(), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the limit for a compressed file of"));
}

// On a pipe, stacks must be sent before the events that refer to them.
TEST_F(Stacks, PrecedeTheirEventsOnAPipe) {
  const testing::Stream s = testing::RandomStream(5, 3000);
  ASSERT_GT(s.stacks.size(), 20u);
  std::string bytes;
  auto writer = TraceWriter::ToSink([&](std::string_view b) {
    bytes += b;
    return absl::OkStatus();
  });
  testing::Play(s, *writer, 10);
  ASSERT_TRUE(writer->Close().ok());
  TraceAssembler assembler;
  FrameDecoder frames;
  frames.Append(bytes);
  for (auto f = frames.Next(); f.ok() && f->has_value(); f = frames.Next())
    ASSERT_TRUE(assembler.Add(**f).ok());
  EXPECT_EQ(testing::Difference(*assembler.Finish(""), *testing::Build(s)), "");
}

}  // namespace
}  // namespace vramscope::trace
