// Writes and reads files with activities, which may arrive late or in any order. The footer must
// index them, and invalid activities must be refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "profiler/trace/activity_codec.h"
#include "profiler/trace/builder_sink.h"
#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/file_fixture.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

using ::testing::HasSubstr;
using testing::Stream;

using ActivitiesFile = TraceFile;

TEST_F(ActivitiesFile, FooterIndexesActivities) {
  Stream s = testing::RandomStream(22, 2000);
  const auto footer_of = [](const std::string& bytes) {
    FrameDecoder d;
    d.Append(bytes);
    absl::StatusOr<Footer> footer = absl::NotFoundError("no footer");
    for (auto frame = d.Next(); frame.ok() && frame->has_value(); frame = d.Next())
      if ((*frame)->type == FrameType::kFooter) footer = DecodeFooter((*frame)->payload);
    return footer;
  };
  const std::string bytes = ManyFrames(s, 200);
  const auto footer = footer_of(bytes);
  ASSERT_TRUE(footer.ok());
  EXPECT_EQ(footer->activities, s.activities.size());
  // Activities are written in eleven pieces. Operands get separate batches. One piece has no
  // operands, so there are 21 batches.
  ASSERT_EQ(footer->activity_batches.size(), 21u);
  std::vector<Activity> of_kind[2];  // [1]: operands, [0]: other activities
  for (const Activity& a : s.activities) of_kind[a.kind == ActivityKind::kOperand].push_back(a);
  ASSERT_GT(of_kind[1].size(), 10u);
  size_t at[2] = {};
  for (const Footer::ActivityBatch& row : footer->activity_batches) {
    FrameDecoder at_batch;
    at_batch.Append(std::string_view(bytes).substr(row.offset));
    const auto frame = at_batch.Next();
    ASSERT_TRUE(frame.ok() && frame->has_value());
    ASSERT_EQ((*frame)->type, FrameType::kActivities);
    std::vector<Activity> batch;
    ASSERT_TRUE(DecodeActivities((*frame)->payload, batch).ok());
    ASSERT_EQ(batch.size(), row.count);
    const bool operands = batch.front().kind == ActivityKind::kOperand;
    int64_t first = INT64_MAX, last = INT64_MIN;
    ASSERT_LE(at[operands] + row.count, of_kind[operands].size());
    for (const Activity& a : std::span(of_kind[operands]).subspan(at[operands], row.count)) {
      first = std::min(first, a.begin_ns);
      last = std::max(last, a.end_ns);
    }
    at[operands] += row.count;
    EXPECT_EQ(row.first_begin_ns, first);
    EXPECT_EQ(row.last_end_ns, last);
  }
  EXPECT_EQ(at[0], of_kind[0].size());
  EXPECT_EQ(at[1], of_kind[1].size());
}

// Writes the activities in reverse order, as if the buffer with the last kernels arrived first.
TEST_F(ActivitiesFile, SortsActivitiesThatArriveLate) {
  const Stream s = testing::RandomStream(23, 3000);
  std::vector<Activity> activities = s.activities;
  ASSERT_EQ(activities.size(), 1000u);
  auto writer = TraceWriter::ToFile(At("late"));
  BuilderSink memory;
  for (EventSink* sink :
       {static_cast<EventSink*>(writer->get()), static_cast<EventSink*>(&memory)}) {
    sink->Begin(s.info);
    sink->Strings(0, s.strings);
  }
  SortByBegin(activities);
  std::reverse(activities.begin(), activities.end());
  for (size_t at = 0; at < activities.size(); at += 30) {
    const auto piece = std::span(activities).subspan(at, std::min<size_t>(30, 1000 - at));
    (*writer)->Activities(piece);
    memory.Activities(piece);
    if (at % 90 == 0) (*writer)->Flush();
  }
  (*writer)->End(true, "");
  memory.End(true, "");
  ASSERT_TRUE((*writer)->Close().ok());
  const auto read = Read(At("late"));
  ASSERT_NE(read, nullptr);
  EXPECT_TRUE(read->complete) << read->end_message;
  EXPECT_TRUE(std::is_sorted(read->activities.begin_ns.begin(), read->activities.begin_ns.end()));
  EXPECT_EQ(testing::Difference(*read, *memory.Trace()), "");
}

TEST_F(ActivitiesFile, RejectsInvalidActivities) {
  const auto written = [&](const Activity& activity) {
    auto writer = TraceWriter::ToFile(At("a.trace"));
    (*writer)->Begin({});
    (*writer)->Strings(0, std::vector<std::string>{"", "gemm"});
    (*writer)->Activities(std::span(&activity, 1));
    (*writer)->End(true, "");
    return (*writer)->Close();
  };
  EXPECT_TRUE(written({.name = {1}, .begin_ns = 2, .end_ns = 2}).ok());
  EXPECT_EQ(written({.name = {2}}).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(written({.begin_ns = 2, .end_ns = 1}).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(written({.kind = static_cast<ActivityKind>(99)}).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(written({.from = static_cast<MemorySpace>(6)}).code(), absl::StatusCode::kDataLoss);
  // Another writer's file may have an invalid activity. The data before it must still be read.
  std::vector<Activity> activities(3);
  activities[1].name = {1};
  const std::string bytes = EncodeFrame(FrameType::kTraceHeader, EncodeHeader({})) +
                            EncodeFrame(FrameType::kActivities, EncodeActivities(activities));
  testing::WriteFile(At("x"), bytes);
  const auto trace = Read(At("x"));
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->activities.size(), 1u);
  EXPECT_FALSE(trace->complete);
  EXPECT_THAT(trace->warnings[0],
              HasSubstr("a kernel uses string 1, but there are only 1 strings"));
}

}  // namespace
}  // namespace vramscope::trace
