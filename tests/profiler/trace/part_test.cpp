// Reads a time range of a .trace, and compares it with the same range of the whole trace: all
// events, the memory at each event, and the step, phase and module of each allocation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "profiler/trace/footer_file.h"
#include "profiler/trace/memory_cursor.h"
#include "profiler/trace/outline.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

// Sends everything in small pieces, each as a separate batch.
class InPieces : public EventSink {
 public:
  explicit InPieces(TraceWriter& to) : to_(to) {}
  void Begin(const TraceInfo& info) override { to_.Begin(info); }
  void Strings(uint32_t first_id, std::span<const std::string> values) override {
    to_.Strings(first_id, values);
  }
  void Stacks(const StackIncrement& increment) override { to_.Stacks(increment); }
  void Events(std::span<const Event> events) override {
    to_.Events(events);
    to_.Flush();
  }
  void Activities(std::span<const Activity> activities) override { to_.Activities(activities); }
  void End(bool complete, std::string_view message) override { to_.End(complete, message); }

 private:
  TraceWriter& to_;
};

class PartTest : public ::testing::Test {
 protected:
  ~PartTest() override { std::filesystem::remove(path_); }
  void Write(const testing::Stream& s) {
    auto writer = TraceWriter::ToFile(path_);
    testing::Play(s, **writer, 1000);
    ASSERT_TRUE((*writer)->Close().ok());
    whole_ = *ReadTraceFile(path_, {});
  }
  // Writes the stream in small batches, with keyframes between them.
  void WriteWithKeyframes(const testing::Stream& s, size_t piece = 100) {
    auto writer = TraceWriter::ToFile(path_, /*keyframe_events=*/300);
    InPieces pieces(**writer);
    testing::Play(s, pieces, piece);
    ASSERT_TRUE((*writer)->Close().ok());
    whole_ = *ReadTraceFile(path_, {});
    index_ = *FooterFile(path_).FindFooter();
    ASSERT_GT(index_.keyframes.size(), 2u);
  }
  void Damage(uint64_t offset) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write("damage", 6);
  }
  // Reads a part of the file. The times are relative to the first event.
  absl::StatusOr<std::shared_ptr<const Trace>> Part(int64_t from, int64_t to) {
    return ReadTraceFile(path_, {.from_ns = from, .to_ns = to});
  }
  int64_t Since(EventIndex i) const {
    return static_cast<int64_t>(static_cast<uint64_t>(whole_->events.time_ns[i]) -
                                static_cast<uint64_t>(whole_->events.time_ns[0]));
  }

  void Check(int64_t from, int64_t to) {
    SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
    const Trace& w = *whole_;
    EventIndex first = 0, last = w.events.size();
    while (first < last && Since(first) < from) ++first;
    EventIndex end = first;
    while (end < last && Since(end) <= to) ++end;
    const auto part = Part(from, to);
    if (first == end) return;  // the part has no events
    ASSERT_TRUE(part.ok()) << part.status();
    const Trace& p = **part;
    ASSERT_GE(p.events.size(), end - first);
    const EventIndex restated = p.events.size() - (end - first);
    if (first == 0) {
      ASSERT_EQ(restated, 0u);
    } else {
      ASSERT_NE(p.recording_begin, kNoEvent);
      ASSERT_LT(p.recording_begin, restated);
    }
    MemoryCursor in_part(p), in_whole(w);
    in_part.AdvanceTo(restated);
    in_whole.AdvanceTo(first);
    for (EventIndex i = first; i < end; ++i) {
      const EventIndex j = restated + (i - first);
      const auto same = [&](const MemorySums& a, const MemorySums& b) {
        return a.allocated == b.allocated && a.requested == b.requested &&
               a.reserved == b.reserved && a.by_category == b.by_category;
      };
      ASSERT_TRUE(same(in_part.sums(), in_whole.sums())) << "before event " << i;
      ASSERT_EQ(p.events.kind[j], w.events.kind[i]) << i;
      ASSERT_EQ(p.events.time_ns[j], w.events.time_ns[i]);
      ASSERT_EQ(p.events.bytes[j], w.events.bytes[i]);
      ASSERT_EQ(p.events.bytes_rounded[j], w.events.bytes_rounded[i]);
      ASSERT_EQ(p.events.category[j], w.events.category[i]);
      ASSERT_EQ(p.events.detail[j], w.events.detail[i]);
      ASSERT_EQ(p.String(p.events.name[j]), w.String(w.events.name[i])) << i;
      if (w.events.kind[i] == EventKind::kAlloc) {
        const uint64_t a = p.events.id[j], b = w.events.id[i];
        ASSERT_EQ(p.allocations.address[a], w.allocations.address[b]);
        ASSERT_EQ(p.allocations.step[a], w.allocations.step[b]) << i;
        ASSERT_EQ(p.allocations.phase[a], w.allocations.phase[b]);
        ASSERT_EQ(p.allocations.micro_batch[a], w.allocations.micro_batch[b]);
        ASSERT_EQ(p.String(p.allocations.module[a]), w.String(w.allocations.module[b]));
      }
      in_part.Apply();
      in_whole.Apply();
    }
    ASSERT_EQ(in_part.Live().size(), in_whole.Live().size());
    ASSERT_EQ(in_part.Segments().size(), in_whole.Segments().size());
    // The part must have the activities that overlap its range, unchanged.
    uint32_t row = 0;
    for (uint32_t i = 0; i < w.activities.size(); ++i) {
      const auto since = [&](int64_t ns) {
        return static_cast<int64_t>(static_cast<uint64_t>(ns) -
                                    static_cast<uint64_t>(w.events.time_ns[0]));
      };
      if (since(w.activities.end_ns[i]) < from || since(w.activities.begin_ns[i]) > to) continue;
      ASSERT_LT(row, p.activities.size());
      ASSERT_EQ(p.activities.begin_ns[row], w.activities.begin_ns[i]);
      ASSERT_EQ(p.activities.kind[row], w.activities.kind[i]);
      ASSERT_EQ(p.String(p.activities.name[row]), w.String(w.activities.name[i]));
      ++row;
    }
    ASSERT_EQ(row, p.activities.size());
  }

  const std::string path_ =
      std::filesystem::temp_directory_path() / ("part-" + std::to_string(::getpid()));
  std::shared_ptr<const Trace> whole_;
  Footer index_;
};

TEST_F(PartTest, EqualsThatPartOfATrainingRun) {
  testing::Stream s = testing::TrainingStream({.layers = 4, .steps = 6, .max_events = 60'000});
  for (uint32_t i = 0; i < 3'000; ++i)
    s.activities.push_back({.stream = i % 3,
                            .begin_ns = s.events[i * 7 % s.events.size()].time_ns,
                            .end_ns = s.events[i * 7 % s.events.size()].time_ns + 40});
  Write(s);
  std::mt19937_64 random(5);
  const int64_t length = Since(whole_->events.size() - 1);
  Check(0, length);
  Check(INT64_MIN, length / 3);
  Check(length / 2, INT64_MAX);
  for (int round = 0; round < 12; ++round) {
    const auto from = static_cast<int64_t>(random() % static_cast<uint64_t>(length));
    Check(from, from + static_cast<int64_t>(random() % static_cast<uint64_t>(length / 4)));
  }
}

TEST_F(PartTest, EqualsThatPartOfARandomStream) {
  std::mt19937_64 random(6);
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    testing::Stream s = testing::RandomStream(seed, 3'000);
    s.activities.clear();  // their random times would include them in every part
    seed % 2 == 0 ? Write(s) : WriteWithKeyframes(s);
    for (int round = 0; round < 4; ++round) {
      EventIndex from = static_cast<EventIndex>(random() % whole_->events.size());
      EventIndex to = static_cast<EventIndex>(random() % whole_->events.size());
      if (from > to) std::swap(from, to);
      if (Since(to) < Since(from)) continue;  // the time since the first event overflows
      Check(Since(from), Since(to));
    }
  }
}

TEST_F(PartTest, IsOutOfRangeWithoutEvents) {
  Write(testing::TrainingStream({.layers = 1, .steps = 1}));
  const int64_t length = Since(whole_->events.size() - 1);
  EXPECT_EQ(Part(length + 1, length + 100).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Part(-100, -1).status().code(), absl::StatusCode::kOutOfRange);
}

// If no event is in the range, the part must show the memory that is in use throughout it.
TEST_F(PartTest, WithoutEventsHoldsTheMemoryInUse) {
  constexpr int64_t kGap = 1'000'000'000;
  for (const bool keyframes : {false, true}) {
    for (const bool activity : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "keyframes " << keyframes << ", activity " << activity);
      testing::Stream s = testing::TrainingStream({.layers = 4, .steps = 6, .max_events = 4'000});
      s.activities.clear();
      const size_t middle = s.events.size() / 2;
      for (size_t i = middle; i < s.events.size(); ++i) s.events[i].time_ns += kGap;
      const int64_t before = s.events[middle - 1].time_ns - s.events[0].time_ns;
      if (activity)
        s.activities.push_back({.begin_ns = s.events[middle - 1].time_ns + kGap / 3,
                                .end_ns = s.events[middle - 1].time_ns + kGap / 2});
      keyframes ? WriteWithKeyframes(s) : Write(s);
      MemoryCursor whole(*whole_);
      whole.AdvanceTo(middle);
      ASSERT_GT(whole.sums().allocated, 0u);
      const auto part = Part(before + kGap / 4, before + kGap * 3 / 4);
      ASSERT_TRUE(part.ok()) << part.status();
      MemoryCursor cursor(**part);
      cursor.AdvanceTo((*part)->events.size());
      EXPECT_EQ(cursor.sums().allocated, whole.sums().allocated);
      EXPECT_EQ(cursor.sums().reserved, whole.sums().reserved);
      EXPECT_EQ(cursor.Live().size(), whole.Live().size());
      EXPECT_EQ((*part)->activities.size(), activity ? 1u : 0u);
      EXPECT_EQ((*part)->events.time_ns[0] - whole_->events.time_ns[0], before + kGap / 4);
    }
  }
}

// After the last event, the GPU may still work, so a part may begin there.
TEST_F(PartTest, BehindTheLastEventHoldsTheMemoryInUse) {
  testing::Stream s = testing::TrainingStream({.layers = 2, .steps = 2, .max_events = 1'000});
  s.activities = {{.begin_ns = s.events.back().time_ns, .end_ns = s.events.back().time_ns + 500}};
  Write(s);
  const int64_t length = Since(whole_->events.size() - 1);
  MemoryCursor whole(*whole_);
  whole.AdvanceTo(whole_->events.size());
  ASSERT_GT(whole.sums().allocated, 0u);
  const auto part = Part(length + 100, INT64_MAX);
  ASSERT_TRUE(part.ok()) << part.status();
  MemoryCursor cursor(**part);
  cursor.AdvanceTo((*part)->events.size());
  EXPECT_EQ(cursor.sums().allocated, whole.sums().allocated);
  EXPECT_EQ((*part)->activities.size(), 1u);
}

// If the file has an index, no data after the part may be read.
TEST_F(PartTest, DoesNotReadDataAfterThePart) {
  testing::Stream s = testing::TrainingStream({.layers = 12, .steps = 60, .max_events = 250'000});
  for (size_t i = 0; i < s.events.size(); i += 50)
    s.activities.push_back({.begin_ns = s.events[i].time_ns, .end_ns = s.events[i].time_ns + 4000});
  Write(s);
  const auto outline = ReadOutline(path_);
  ASSERT_TRUE(outline.ok());
  ASSERT_GT(outline->batches.size(), 2u);
  const int64_t length = Since(whole_->events.size() - 1);
  Check(length / 3, length / 2);
  Check(length / 2, INT64_MAX);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(outline->file_bytes * 3 / 5));
  file.write("damage", 6);
  file.close();
  EXPECT_FALSE((*ReadTraceFile(path_, {}))->complete);
  const auto behind = Part(length * 2 / 5, INT64_MAX);
  EXPECT_TRUE(!behind.ok() || !(*behind)->complete);
  EXPECT_TRUE((*Part(length / 8, length / 5))->complete);
  Check(length / 8, length / 5);
}

TEST_F(PartTest, EqualsThatPartWhenReadFromAKeyframe) {
  testing::Stream s = testing::TrainingStream({.layers = 4, .steps = 6, .max_events = 40'000});
  for (uint32_t i = 0; i < 3'000; ++i)
    s.activities.push_back({.stream = i % 3,
                            .begin_ns = s.events[i * 7 % s.events.size()].time_ns,
                            .end_ns = s.events[i * 7 % s.events.size()].time_ns + 40'000'000});
  WriteWithKeyframes(s);
  std::mt19937_64 random(8);
  const int64_t length = Since(whole_->events.size() - 1);
  Check(length - 1, INT64_MAX);
  for (int round = 0; round < 20; ++round) {
    const auto from = static_cast<int64_t>(random() % static_cast<uint64_t>(length));
    Check(from, from + static_cast<int64_t>(random() % static_cast<uint64_t>(length / 20)));
  }
}

// Data before the nearest keyframe are not read. If that keyframe is damaged, the reader must use
// an earlier one, or read the whole file.
TEST_F(PartTest, SkipsDamagedKeyframes) {
  WriteWithKeyframes(testing::TrainingStream({.layers = 4, .steps = 6, .max_events = 40'000}));
  const int64_t length = Since(whole_->events.size() - 1);
  const auto at = [&](double part) {
    return static_cast<int64_t>(static_cast<double>(length) * part);
  };
  for (const Footer::Batch& batch : index_.batches)
    if (batch.first_event < whole_->events.size() / 4) Damage(batch.offset + 30);
  Check(at(0.5), at(0.6));
  EXPECT_TRUE((*Part(at(0.5), at(0.6)))->complete);
  // Damages the nearest keyframe, then also the one before it.
  auto nearest = index_.keyframes.end();
  while (nearest[-1].last_time_ns - whole_->events.time_ns[0] >= at(0.5)) --nearest;
  Damage(nearest[-1].offset + 25);
  Check(at(0.5), at(0.6));
  Damage(nearest[-2].offset + 25);
  Check(at(0.5), at(0.6));
  // If all keyframes are damaged, the file must be read as if it had none.
  WriteWithKeyframes(testing::TrainingStream({.layers = 4, .steps = 6, .max_events = 40'000}));
  const auto before = whole_;
  for (const Footer::KeyframeAt& keyframe : index_.keyframes) Damage(keyframe.offset + 25);
  Check(at(0.5), at(0.6));
  EXPECT_EQ(testing::Difference(*before, **ReadTraceFile(path_, {})), "");
  ASSERT_GT(index_.tables.size(), 1u);
  Damage(index_.tables.front() + 25);
  EXPECT_FALSE(Part(at(0.5), at(0.6)).ok()) << "the part is read with missing names";
}

// If the index is damaged, the part may be incomplete or reading may fail. It must not crash.
TEST_F(PartTest, RandomDamageOfTheIndexIsSafe) {
  WriteWithKeyframes(testing::TrainingStream({.layers = 2, .steps = 4, .max_events = 6'000}));
  const int64_t length = Since(whole_->events.size() - 1);
  const std::string bytes = testing::ReadFile(path_);
  const std::string_view end = std::string_view(bytes).substr(bytes.size() - kEndPayloadBytes);
  const uint64_t at = *DecodeEnd(end);
  const std::string footer = FooterFile(path_).At(at)->payload;
  std::mt19937_64 random(11);
  int whole = 0;
  for (int round = 0; round < 150; ++round) {
    std::string lie = footer;
    for (uint64_t i = 0; i <= random() % 3; ++i)
      lie[random() % lie.size()] = static_cast<char>(random());
    testing::WriteFile(path_, bytes.substr(0, at) + EncodeFrame(FrameType::kFooter, lie) +
                                  EncodeFrame(FrameType::kEnd, EncodeEnd(at)));
    const auto from = static_cast<int64_t>(random() % static_cast<uint64_t>(length));
    const auto part = Part(from, from + length / 10);
    whole += part.ok() && (*part)->complete;
    if (!part.ok()) continue;
    for (MemoryCursor cursor(**part); cursor.event() < (*part)->events.size();) cursor.Apply();
  }
  EXPECT_GT(whole, 15);
}

// It must be possible to write a part to a file, and to read a part of this file.
TEST_F(PartTest, CanBeWrittenAndReadInParts) {
  Write(testing::TrainingStream({.layers = 2, .steps = 4}));
  const int64_t length = Since(whole_->events.size() - 1);
  const auto part = *Part(length / 4, length * 3 / 4);
  ASSERT_TRUE(WriteTraceFile(*part, path_, {}).ok());
  const auto again = *ReadTraceFile(path_, {});
  EXPECT_EQ(testing::Difference(*part, *again), "");
  whole_ = again;
  Check(Since(again->events.size() / 2), Since(again->events.size() * 3 / 4));
}

}  // namespace
}  // namespace vramscope::trace
