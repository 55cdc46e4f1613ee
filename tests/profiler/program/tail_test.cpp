// When a process is killed, some data were not yet written as a chunk. Reads these data from files
// like those that the injected library leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "cupti/activity_tail_writer.h"
#include "profiler/program/activity_file.h"
#include "profiler/program/history.h"
#include "profiler/program/history_tail.h"
#include "tests/profiler/importers/pickle_writer.h"

namespace vramscope::program {
namespace {

using importers::testing::Json;
using importers::testing::ToPickle;
using recording::Action;
using recording::Recording;
using ::testing::ElementsAre;
using trace::Activity;

constexpr uint64_t kSegment = uint64_t{1} << 32;
constexpr uint64_t kMiB = 1 << 20;
// The kinds of entries, with PyTorch's numbers.
enum : uint8_t { kAlloc, kFreeRequested, kFreeCompleted, kSegmentAlloc };

class TailTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "tail-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static HistoryTailRow Row(uint8_t action, uint64_t address, uint64_t bytes, int64_t us) {
    return {.address = address, .bytes = bytes, .time_ns = us * 1000, .action = action};
  }
  static std::string File(const std::vector<HistoryTailRow>& rows, uint64_t stated_rows) {
    const HistoryTailHeader header{.row_bytes = sizeof(HistoryTailRow), .rows = stated_rows};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof rows[0]);
    return bytes;
  }
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  void WriteTail(int chunk, const std::vector<HistoryTailRow>& rows) const {
    std::string bytes = File(rows, rows.size());
    bytes.resize(kMiB);  // the reserved size of the file
    Write("history-00000" + std::to_string(chunk) + ".tail", bytes);
  }
  // Writes a chunk with a segment of 20 MiB. It contains a block of 4 MiB, which has a stack.
  void WriteChunk() const {
    const auto entry = [](const char* action, uint64_t address, uint64_t size, int64_t us) {
      return Json{{"action", action},
                  {"addr", address},
                  {"size", size},
                  {"stream", 0},
                  {"time_us", us},
                  {"frames", {{{"name", "f"}, {"filename", "/train.py"}, {"line", 3}}}}};
    };
    const auto block = [](uint64_t address, uint64_t size, const char* state) {
      return Json{{"address", address}, {"size", size}, {"requested_size", size}, {"state", state}};
    };
    Write(
        "history-000000.pickle",
        ToPickle({{"segments",
                   {{{"address", kSegment},
                     {"total_size", 20 * kMiB},
                     {"stream", 0},
                     {"segment_type", "large"},
                     {"segment_pool_id", {0, 1}},
                     {"blocks",
                      {block(kSegment, 4 * kMiB, "active_allocated"),
                       block(kSegment + 4 * kMiB, 16 * kMiB, "inactive")}}}}},
                  {"device_traces", Json::array({{entry("segment_alloc", kSegment, 20 * kMiB, 100),
                                                  entry("alloc", kSegment, 4 * kMiB, 101)}})},
                  {"allocator_settings", Json::object()}}));
  }
  absl::StatusOr<Recording> Read() const {
    HistoryReader reader({});
    if (absl::Status s = reader.ReadMore(folder_); !s.ok() && !absl::IsNotFound(s)) return s;
    return reader.WithTail(folder_);
  }

  std::string folder_;
};

TEST_F(TailTest, ContinuesAfterTheLastChunk) {
  WriteChunk();
  WriteTail(
      1,
      {Row(kAlloc, kSegment + 4 * kMiB, 6 * kMiB, 200),
       Row(kFreeRequested, kSegment, 4 * kMiB, 201), Row(kFreeCompleted, kSegment, 4 * kMiB, 201),
       Row(kSegmentAlloc, 2 * kSegment, 2 * kMiB, 202), Row(kAlloc, 2 * kSegment, 1000, 203)});
  const absl::StatusOr<Recording> r = Read();
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_THAT(r->entries.action, ElementsAre(Action::kSegmentAlloc, Action::kAlloc, Action::kAlloc,
                                             Action::kFreeRequested, Action::kFreeCompleted,
                                             Action::kSegmentAlloc, Action::kAlloc));
  EXPECT_EQ(r->entries.time_ns.back(), 103'000);
  EXPECT_TRUE(r->warnings.empty());
  // The segments are from the state after the chunk. Private pools that chunks stated are kept.
  ASSERT_EQ(r->segments.size(), 2u);
  EXPECT_EQ(r->segments[0].mempool, 1u);
  ASSERT_EQ(r->segments[0].blocks.size(), 3u);
  EXPECT_EQ(r->segments[0].blocks[0].use, recording::BlockUse::kInactive);
  EXPECT_EQ(r->segments[0].blocks[1].requested, 6 * kMiB);
  EXPECT_EQ(r->segments[1].pool, trace::Pool::kSmall);
  const absl::StatusOr<recording::History> history = recording::Reconstruct(*r);
  ASSERT_TRUE(history.ok());
  EXPECT_TRUE(history->warnings.empty()) << history->warnings.front();
  ASSERT_EQ(history->allocations.size(), 3u);
  EXPECT_EQ(history->allocations.free_completed[0], 4u);
  EXPECT_EQ(history->allocations.bytes[2], 1024u);
}

// The process was killed before the first chunk, after the snapshot for a chunk was taken but
// before the chunk was written, or within an entry.
TEST_F(TailTest, IsReadWithoutAnyChunk) {
  EXPECT_TRUE(absl::IsNotFound(Read().status()));
  WriteTail(0, {Row(kSegmentAlloc, kSegment, 2 * kMiB, 7), Row(kAlloc, kSegment, 512, 8)});
  WriteTail(1, {Row(kAlloc, kSegment + 512, 512, 9)});
  absl::StatusOr<Recording> r = Read();
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->start_unix_ns, 7000);
  EXPECT_EQ(r->entries.size(), 3u);
  ASSERT_EQ(r->segments.size(), 1u);
  // This file has fewer rows than its header states.
  Write("history-000001.tail", File({Row(kAlloc, kSegment + 512, 512, 9)}, 3));
  EXPECT_EQ(Read()->entries.size(), 3u);
  Write("history-000001.tail", File({}, 0).substr(0, 20));
  EXPECT_EQ(Read()->entries.size(), 2u);
}

// A chunk may also be a file of rows. Its stacks are in stacks.jsonl.
TEST_F(TailTest, ReadsRowFilesWithTheirStacks) {
  const auto with = [](HistoryTailRow row, uint32_t stack) {
    row.stack = stack;
    return row;
  };
  Write("history-000000.pickle",
        ToPickle({{"segments", Json::array()},
                  {"device_traces", {Json::array()}},
                  {"allocator_settings", {{"PYTORCH_CUDA_ALLOC_CONF", ""}}}}));
  const std::string stacks =
      "[\"f\",0,\"main\",\"/train.py\",3]\n[\"f\",1,\"step\",\"/train.py\",9]\n"
      "[\"s\",1,1,0]\n[\"s\",2,0]\n";
  Write("stacks.jsonl", stacks + "[\"f\",2,\"cut");
  const std::vector<HistoryTailRow> first = {Row(kSegmentAlloc, kSegment, 2 * kMiB, 7),
                                             with(Row(kAlloc, kSegment, 512, 8), 1),
                                             with(Row(kAlloc, kSegment + 512, 512, 9), 2)};
  Write("history-000001.rows", File(first, first.size()));
  WriteTail(2, {with(Row(kAlloc, kSegment + 1024, 512, 11), 1),
                with(Row(kFreeRequested, kSegment, 512, 12), 99)});  // not written yet
  const auto frames = [](const Recording& r, uint32_t entry) {
    std::string text;
    for (const uint32_t frame : r.stacks.Frames(r.entries.StackOf(entry)))
      text += r.strings[r.stacks.function[frame].value] + ":" +
              std::to_string(r.stacks.line[frame]) + " ";
    return text;
  };
  absl::StatusOr<Recording> r = Read();
  ASSERT_TRUE(r.ok()) << r.status();
  ASSERT_EQ(r->entries.size(), 5u);
  EXPECT_EQ(frames(*r, 0), "");
  EXPECT_EQ(frames(*r, 1), "step:9 main:3 ");
  EXPECT_EQ(frames(*r, 2), "main:3 ");
  EXPECT_EQ(frames(*r, 3), "step:9 main:3 ");
  EXPECT_EQ(frames(*r, 4), "");
  EXPECT_EQ(r->start_unix_ns, 7000);
  EXPECT_EQ(r->entries.time_ns.back(), 5000);
  ASSERT_EQ(r->segments.size(), 1u);
  EXPECT_GE(r->segments[0].blocks.size(), 3u);
  // The next chunk has just begun, so the segments have the state after the entries.
  std::filesystem::remove(folder_ + "/history-000002.tail");
  r = Read();
  ASSERT_TRUE(r.ok());
  ASSERT_EQ(r->segments.size(), 1u);
  EXPECT_EQ(r->segments[0].blocks[0].use, recording::BlockUse::kAllocated);
  EXPECT_TRUE(recording::Reconstruct(*r)->warnings.empty());
  // The rest of the file is ignored after an invalid line. Entries that need it get no stack.
  Write("stacks.jsonl", "[\"s\",1,1,0]\n" + stacks);
  r = Read();
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->entries.size(), 3u);
  EXPECT_EQ(frames(*r, 1), "");
  Write("history-000001.rows", "");
  EXPECT_EQ(Read()->entries.size(), 0u);
  EXPECT_FALSE(Read()->warnings.empty());
}

// Each row has the number of the operator in which the allocation was made.
TEST_F(TailTest, RowsHaveTheOperatorsThatAllocated) {
  const auto by = [](HistoryTailRow row, uint16_t number) {
    row.done = static_cast<uint16_t>(1 + number);
    return row;
  };
  Write("stacks.jsonl", "[\"o\",1,\"aten::mm\"]\n[\"o\",2,\"aten::_to_copy\"]\n");
  const std::vector<HistoryTailRow> first = {Row(kSegmentAlloc, kSegment, 2 * kMiB, 7),
                                             by(Row(kAlloc, kSegment, 512, 8), 2)};
  Write("history-000000.rows", File(first, first.size()));
  WriteTail(
      1, {by(Row(kAlloc, kSegment + 512, 512, 9), 1), by(Row(kAlloc, kSegment + 1024, 512, 10), 0),
          by(Row(kAlloc, kSegment + 1536, 512, 11), 77)});  // its operator was not written
  HistoryReader reader({});
  ASSERT_TRUE(reader.ReadMore(folder_).ok());
  std::vector<trace::StringId> operators;
  const absl::StatusOr<Recording> r = reader.WithTail(folder_, &operators);
  ASSERT_TRUE(r.ok()) << r.status();
  ASSERT_EQ(operators.size(), r->entries.size());
  std::vector<std::string> names;
  for (const trace::StringId one : operators) names.push_back(r->strings[one.value]);
  EXPECT_THAT(names, ElementsAre("", "aten::_to_copy", "aten::mm", "", ""));
  // If an entry of the file is out of order, the rest of the file is not read.
  Write("stacks.jsonl", "[\"o\",2,\"aten::mm\"]\n");
  HistoryReader other({});
  ASSERT_TRUE(other.ReadMore(folder_).ok());
  const absl::StatusOr<Recording> damaged = other.WithTail(folder_, &operators);
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  for (const trace::StringId one : operators) EXPECT_EQ(damaged->strings[one.value], "");
}

// The difference of these times (before and after 1970) exceeds 64 bits. No clock returns them.
TEST_F(TailTest, HandlesTimesWhoseDifferenceOverflows) {
  constexpr int64_t kFirstUs = -200'000'000'000'000, kLastUs = 9'000'000'000'000'000;
  const auto chunk = [&](int number, int64_t us) {
    Write("history-00000" + std::to_string(number) + ".pickle",
          ToPickle({{"segments", Json::array()},
                    {"device_traces",
                     Json::array({{{{"action", "segment_alloc"},
                                    {"addr", kSegment * static_cast<uint64_t>(number + 1)},
                                    {"size", 2 * kMiB},
                                    {"stream", 0},
                                    {"time_us", us},
                                    {"frames", Json::array()}}}})},
                    {"allocator_settings", Json::object()}}));
  };
  chunk(0, kFirstUs);
  chunk(1, kLastUs);
  chunk(2, kFirstUs + 5);
  HistoryTailRow row = Row(kAlloc, kSegment, 512, 0);
  row.time_ns = INT64_MAX;
  WriteTail(3, {row});
  absl::StatusOr<Recording> r = Read();
  ASSERT_TRUE(r.ok()) << r.status();
  constexpr int64_t kBetween = (kLastUs - kFirstUs) * 1000;
  EXPECT_EQ(r->start_unix_ns, kFirstUs * 1000);
  EXPECT_THAT(r->entries.time_ns, ElementsAre(0, kBetween, kBetween, kBetween));

  // An entry that has an earlier time than its predecessor gets the time of its predecessor.
  chunk(0, kLastUs);
  chunk(1, kFirstUs);
  chunk(2, kLastUs);
  r = Read();
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->start_unix_ns, kLastUs * 1000);
  EXPECT_THAT(r->entries.time_ns, ElementsAre(0, 0, 0, 0));

  // If there are only tails, times are limited, too, to the latest time that a chunk may have.
  for (const char* number : {"0", "1", "2"})
    std::filesystem::remove(folder_ + "/history-00000" + number + ".pickle");
  WriteTail(0, {row});
  r = Read();
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->start_unix_ns, kLastUs * 1000);
}

// If a free was not completed, it is pending. This must not be reported as an error.
TEST_F(TailTest, RequestedFreeWithoutCompletionIsPending) {
  WriteTail(0, {Row(kSegmentAlloc, kSegment, 2 * kMiB, 7), Row(kAlloc, kSegment, 512, 8),
                Row(kFreeRequested, kSegment, 512, 9)});
  const absl::StatusOr<Recording> r = Read();
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->segments[0].blocks[0].use, recording::BlockUse::kPendingFree);
  EXPECT_TRUE(recording::Reconstruct(*r)->warnings.empty());
}

TEST_F(TailTest, RejectsTailOfAnotherVersion) {
  std::string bytes = File({}, 0);
  bytes[8] = 48;
  Write("history-000000.tail", bytes);
  EXPECT_EQ(Read().status().code(), absl::StatusCode::kDataLoss);
}

// --- activities ---

class ActivityTailTest : public TailTest {
 protected:
  static Activity Kernel(uint32_t name, int64_t begin_ns) {
    return {.name = {name}, .begin_ns = begin_ns, .end_ns = begin_ns + 1};
  }
  static std::vector<int64_t> Begins(const ActivityFile& file) {
    std::vector<int64_t> begins;
    for (const Activity& a : file.activities()) begins.push_back(a.begin_ns);
    return begins;
  }
  std::string tail() const { return folder_ + "/activities.tail"; }
  std::string file() const { return folder_ + "/activities.bin"; }
};

TEST_F(ActivityTailTest, IsAppendedToChunksWithoutDuplicates) {
  cupti::ActivityTailWriter tail;
  ASSERT_TRUE(tail.Create(this->tail().c_str(), 0, 1));
  const std::vector<std::string> names = {"first", "second"};
  EXPECT_TRUE(tail.Add(Kernel(1, 10), std::span(names).first(1)));
  EXPECT_TRUE(tail.Add(Kernel(1, 20), std::span(names).first(1)));
  // Suppose that the process is killed here, before a chunk is written.
  ActivityFile early;
  ASSERT_TRUE(early.ReadTail(this->tail()).ok());
  EXPECT_THAT(Begins(early), ElementsAre(10, 20));
  EXPECT_EQ(early.names()[1], "first");

  Write("activities.bin", EncodeActivities(1, std::span(names).first(1), tail.rows()));
  // Suppose that it is killed after the chunk was written and before the tail was cleared.
  ActivityFile between;
  ASSERT_TRUE(between.ReadMore(file()).ok());
  ASSERT_TRUE(between.ReadTail(this->tail()).ok());
  EXPECT_THAT(Begins(between), ElementsAre(10, 20));

  tail.Clear(2, 2);
  EXPECT_TRUE(tail.Add(Kernel(2, 30), std::span(names).last(1)));
  ActivityFile late;
  ASSERT_TRUE(late.ReadMore(file()).ok());
  ASSERT_TRUE(late.ReadTail(this->tail()).ok());
  EXPECT_THAT(Begins(late), ElementsAre(10, 20, 30));
  EXPECT_EQ(late.names().back(), "second");
}

TEST_F(ActivityTailTest, RejectsRowsBeyondItsCapacity) {
  cupti::ActivityTailWriter tail;
  ASSERT_TRUE(tail.Create(this->tail().c_str(), 0, 1));
  const std::vector<std::string> long_name = {std::string(kTailNameBytes, 'x')};
  EXPECT_FALSE(tail.Add(Kernel(1, 1), long_name));
  for (size_t i = 0; i < kTailRows; ++i) ASSERT_TRUE(tail.Add(Kernel(0, 1), {}));
  EXPECT_FALSE(tail.Add(Kernel(0, 1), {}));
  EXPECT_EQ(tail.rows().size(), kTailRows);
}

// The program can write to the file, so it may contain anything.
TEST_F(ActivityTailTest, RejectsInvalidContents) {
  ActivityFile file;
  EXPECT_TRUE(absl::IsNotFound(file.ReadTail(tail())));
  {
    cupti::ActivityTailWriter writer;
    ASSERT_TRUE(writer.Create(tail().c_str(), 5, 1));  // after entries that were never written
    ASSERT_TRUE(writer.Add(Kernel(0, 1), {}));
  }
  EXPECT_EQ(file.ReadTail(tail()).code(), absl::StatusCode::kDataLoss);
  Activity wrong = Kernel(7, 3);  // the name is invalid
  cupti::ActivityTailWriter writer;
  ASSERT_TRUE(writer.Create(tail().c_str(), 0, 1));
  ASSERT_TRUE(writer.Add(wrong, {}));
  wrong = Kernel(0, 4);
  std::memset(static_cast<void*>(&wrong), 0xff, 1);  // the kind is invalid
  ASSERT_TRUE(writer.Add(wrong, {}));
  ASSERT_TRUE(writer.Add(Kernel(0, 5), {}));
  ASSERT_TRUE(file.ReadTail(tail()).ok());
  EXPECT_THAT(Begins(file), ElementsAre(5));
}

}  // namespace
}  // namespace vramscope::program
