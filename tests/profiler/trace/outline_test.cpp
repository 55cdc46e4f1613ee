#include "profiler/trace/outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "profiler/trace/frame.h"
#include "profiler/trace/header_codec.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

using ::testing::HasSubstr;

class OutlineTest : public ::testing::Test {
 protected:
  ~OutlineTest() override { std::filesystem::remove(path_); }
  void Write(const testing::Stream& s) {
    auto writer = TraceWriter::ToFile(path_);
    testing::Play(s, **writer, 1000);
    ASSERT_TRUE((*writer)->Close().ok());
  }
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("outline-" + std::to_string(::getpid()));
};

TEST_F(OutlineTest, AgreesWithTheWholeTrace) {
  testing::Stream s = testing::TrainingStream({.layers = 8, .steps = 1000, .max_events = 200'000});
  for (uint32_t i = 0; i < 100'000; ++i)
    s.activities.push_back({.stream = i % 3, .begin_ns = 10 * int64_t{i % 777}, .end_ns = 9000});
  Write(s);
  const auto outline = ReadOutline(path_);
  ASSERT_TRUE(outline.ok()) << outline.status();
  const auto whole = *ReadTraceFile(path_, {});
  EXPECT_EQ(outline->info.title, whole->info.title);
  EXPECT_EQ(outline->file_bytes, std::filesystem::file_size(path_));
  EXPECT_EQ(outline->events, whole->events.size());
  EXPECT_EQ(outline->activities, whole->activities.size());
  EXPECT_EQ(outline->allocations, whole->allocations.size());
  EXPECT_EQ(outline->slices, whole->slices.size());
  EXPECT_EQ(outline->strings, whole->strings.size());
  EXPECT_TRUE(outline->complete);
  EXPECT_EQ(outline->begin_ns(), whole->begin_ns());
  EXPECT_EQ(outline->end_ns(), std::max<int64_t>(whole->end_ns(), 9000));
  ASSERT_GT(outline->batches.size(), 3u);
  uint64_t live = 0, peak = 0;
  for (EventIndex i = 0; i < whole->events.size(); ++i) {
    if (i == outline->batches[0].events) {
      EXPECT_EQ(outline->batches[0].peak_allocated, peak);
    }
    const uint64_t id = whole->events.id[i];
    if (whole->events.kind[i] == EventKind::kAlloc) live += whole->allocations.bytes_rounded[id];
    if (whole->events.kind[i] == EventKind::kFreeCompleted)
      live -= whole->allocations.bytes_rounded[id];
    peak = std::max(peak, live);
  }
  std::vector<const Outline::Slice*> left;
  for (const Outline::Slice& slice : outline->steps_and_phases) left.push_back(&slice);
  const SliceTable& slices = whole->slices;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const bool outer =
        (slices.kind[row] == SliceKind::kStep || slices.kind[row] == SliceKind::kPhase) &&
        slices.depth[row] == 0;
    if (!outer) continue;
    const auto same = std::ranges::find_if(left, [&](const Outline::Slice* s) {
      return s->kind == slices.kind[row] && s->number == slices.number[row] &&
             s->begin_ns == slices.begin_ns[row] && s->end_ns == slices.end_ns[row];
    });
    ASSERT_NE(same, left.end()) << row;
    left.erase(same);
  }
  EXPECT_TRUE(left.empty());
  EXPECT_GT(outline->steps_and_phases.size(), 100u);
  EXPECT_EQ(outline->peak_allocated(), peak);
  EXPECT_GE(outline->peak_reserved(), peak);
}

// The outline of a very long run merges neighbours. It must count each event exactly once.
TEST_F(OutlineTest, MergesNeighboursInLongRuns) {
  testing::Stream s;
  s.strings = {""};
  constexpr uint32_t kSteps = 150'001;
  constexpr int64_t kStepNs = 100;
  for (uint32_t step = 0; step < kSteps; ++step) {
    const auto at = [&](EventKind kind, int64_t ns, uint8_t detail = 0) {
      Event e;
      e.kind = kind;
      e.time_ns = step * kStepNs + ns;
      e.detail = detail;
      e.id = kind == EventKind::kStepBegin ? step : 0;
      s.events.push_back(e);
    };
    at(EventKind::kStepBegin, 0);
    at(EventKind::kPhaseBegin, 10, static_cast<uint8_t>(Phase::kForward));
    at(EventKind::kPhaseEnd, 30);
    at(EventKind::kPhaseBegin, 30, static_cast<uint8_t>(Phase::kBackward));
    at(EventKind::kPhaseEnd, 80);
    if (step + 1 < kSteps) at(EventKind::kStepEnd, 95);
  }
  Write(s);
  const auto outline = ReadOutline(path_);
  ASSERT_TRUE(outline.ok()) << outline.status();
  uint32_t steps = 0, phases = 0, of_backward = 0;
  size_t rows = 0;
  int64_t end = 0;
  for (const Outline::Slice& slice : outline->steps_and_phases) {
    ++rows;
    if (slice.kind == SliceKind::kPhase) {
      phases += slice.count;
      of_backward += slice.number == static_cast<uint32_t>(Phase::kBackward);
      continue;
    }
    EXPECT_EQ(slice.number, steps);
    EXPECT_EQ(slice.begin_ns, steps * kStepNs);
    EXPECT_GE(slice.begin_ns, end);
    end = slice.end_ns;
    steps += slice.count;
    EXPECT_EQ(end, (steps - 1) * kStepNs + (steps == kSteps ? 80 : 95));
  }
  EXPECT_EQ(steps, kSteps);
  EXPECT_EQ(phases, 2 * kSteps);
  EXPECT_LE(rows, 65'536u);
  EXPECT_GT(rows, 32'768u);
  EXPECT_GT(of_backward, 10'000u);
}

TEST_F(OutlineTest, ReportsWhyItCannotBeRead) {
  Write(testing::RandomStream(3, 500));
  const std::string bytes = testing::ReadFile(path_);
  EXPECT_EQ(ReadOutline("-").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadOutline(path_ + ".missing").status().code(), absl::StatusCode::kNotFound);
  testing::WriteFile(path_, bytes.substr(0, bytes.size() - 3));
  EXPECT_EQ(ReadOutline(path_).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(ReadOutline(path_).status().message()), HasSubstr("is cut off"));
  testing::WriteFile(path_, "{\"traceEvents\": []}");
  EXPECT_EQ(ReadOutline(path_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ReadOutline(path_).status().message()), HasSubstr("not a .trace"));
  testing::WriteFile(path_, "");
  EXPECT_FALSE(ReadOutline(path_).ok());
}

TEST_F(OutlineTest, RejectsContradictoryIndex) {
  const auto with = [&](const Footer& footer) {
    std::string bytes = EncodeFrame(FrameType::kTraceHeader, EncodeHeader({}));
    const uint64_t at = bytes.size();
    bytes += EncodeFrame(FrameType::kFooter, EncodeFooter(footer));
    bytes += EncodeFrame(FrameType::kEnd, EncodeEnd(at));
    testing::WriteFile(path_, bytes);
    return ReadOutline(path_).status().code();
  };
  Footer good;
  good.events = 3;
  good.batches = {{.offset = 1, .count = 3, .first_time_ns = 5, .last_time_ns = 6}};
  good.activities = 2;
  good.activity_batches = {{.offset = 2, .count = 2}};
  EXPECT_EQ(with(good), absl::StatusCode::kOk);
  for (const int lie : {0, 1, 2, 3, 4, 5, 6, 7, 8}) {
    Footer f = good;
    if (lie == 0) f.events = 4;
    if (lie == 1) f.batches[0].offset = 1u << 30;
    if (lie == 2) f.batches[0].first_time_ns = 7;
    if (lie == 3) f.batches[0].first_event = 1;
    if (lie == 4) f.activities = 0;
    if (lie == 5) f.activity_batches[0].first_begin_ns = 1;
    // In these two lies, the duration in nanoseconds exceeds 64 bits.
    if (lie == 6) f.batches[0].first_time_ns = INT64_MIN;
    if (lie == 7) f.outline = {{SliceKind::kStep, 0, INT64_MIN, 6, 1}};
    if (lie == 8) f.batches[0].first_time_ns = f.batches[0].last_time_ns = INT64_MAX;
    if (lie == 8) f.activity_batches.clear(), f.activities = 0;
    EXPECT_EQ(with(f), absl::StatusCode::kDataLoss) << lie;
  }
}

TEST_F(OutlineTest, DamageDoesNotCrash) {
  Write(testing::RandomStream(4, 300));
  const std::string bytes = testing::ReadFile(path_);
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string broken = bytes;
    // Damages bytes near the begin and the end of the file, because only these are read.
    const size_t at = random() % 200;
    broken[i % 2 == 0 ? at : broken.size() - 1 - at] = static_cast<char>(random());
    testing::WriteFile(path_, broken);
    refused += !ReadOutline(path_).ok();
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace vramscope::trace
