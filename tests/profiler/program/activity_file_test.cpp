// Reads files of activities like those that a watched process writes, and checks the activities of
// the trace. The files are complete, truncated at every byte, damaged, or hostile.
#include "profiler/program/activity_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "profiler/program/driver_memory.h"
#include "profiler/trace/crc32c.h"

namespace vramscope::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::Activity;
using trace::ActivityKind;

Activity Of(ActivityKind kind, uint32_t name, uint64_t correlation, int64_t begin, int64_t end,
            uint32_t thread = 0) {
  Activity a;
  a.kind = kind;
  a.name.value = name;
  a.correlation = correlation;
  a.begin_ns = begin;
  a.end_ns = end;
  a.thread = thread;
  return a;
}

bool Same(const Activity& x, const Activity& y) {
  const auto all = [](const Activity& a) {
    return std::tuple(a.kind, a.device, a.from, a.to, a.stream, a.thread, a.name.value,
                      a.correlation, a.address, a.bytes, a.begin_ns, a.end_ns);
  };
  return all(x) == all(y);
}

class ActivityFileTest : public testing::Test {
 protected:
  ActivityFileTest()
      : path_(std::filesystem::temp_directory_path() /
              ("activities-" + std::to_string(getpid()) + ".bin")) {}
  ~ActivityFileTest() override { std::filesystem::remove(path_); }
  void Write(std::string_view bytes, bool append = false) {
    std::ofstream(path_, append ? std::ios::binary | std::ios::app : std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  const std::string path_;
};

std::vector<Activity> RandomActivities(uint32_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Activity> activities;
  for (size_t i = 0; i < count; ++i) {
    Activity a = Of(static_cast<ActivityKind>(random() % trace::kActivityKindCount),
                    static_cast<uint32_t>(random() % 3), random(),
                    static_cast<int64_t>(random() >> 2), 0, static_cast<uint32_t>(random()));
    a.end_ns = a.begin_ns + static_cast<int64_t>(random() % 1000);
    a.device = static_cast<uint8_t>(random());
    a.stream = static_cast<uint32_t>(random());
    a.from = static_cast<trace::MemorySpace>(random() % trace::kMemorySpaceCount);
    a.to = static_cast<trace::MemorySpace>(random() % trace::kMemorySpaceCount);
    a.address = random();
    a.bytes = random();
    activities.push_back(a);
  }
  return activities;
}

TEST_F(ActivityFileTest, ReadsWrittenActivitiesNamesAndFacts) {
  const std::vector<std::string> names = {"one", "two"};
  const std::vector<Activity> first = RandomActivities(1, 100), second = RandomActivities(2, 50);
  ActivityFacts facts;
  facts.running = true;
  facts.library = "libcupti.so.13";
  facts.version = 130001;
  facts.dropped = 7;
  facts.problems = {{"other", "kernels"}};
  Write(EncodeActivities(1, names, first));
  ActivityFile file;
  ASSERT_TRUE(file.ReadMore(path_).ok());
  EXPECT_EQ(file.activities().size(), first.size());
  Write(EncodeActivities(3, {}, second) + EncodeFacts(facts), true);  // while the program runs
  ASSERT_TRUE(file.ReadMore(path_).ok());
  ASSERT_EQ(file.activities().size(), first.size() + second.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(Same(file.activities()[i], first[i]));
  for (size_t i = 0; i < second.size(); ++i)
    EXPECT_TRUE(Same(file.activities()[first.size() + i], second[i]));
  EXPECT_THAT(file.names(), ElementsAre("", "one", "two"));
  EXPECT_EQ(file.facts(), facts);
  EXPECT_FALSE(file.damaged());
  EXPECT_THAT(file.Warnings(), ElementsAre(HasSubstr("other: kernels"), HasSubstr("7 records")));
}

// If a program is killed, its file has whole chunks, followed by a part of a chunk.
TEST_F(ActivityFileTest, KeepsWholeChunksOfTruncatedFile) {
  const std::vector<std::string> names = {"one", "two"};
  const std::string whole = EncodeActivities(1, names, RandomActivities(1, 5));
  const std::string more = EncodeActivities(3, {}, RandomActivities(2, 5));
  for (size_t length = 0; length <= more.size(); ++length) {
    Write(whole + more.substr(0, length));
    ActivityFile file;
    ASSERT_TRUE(file.ReadMore(path_).ok());
    EXPECT_EQ(file.activities().size(), length == more.size() ? 10u : 5u);
    EXPECT_FALSE(file.damaged()) << length;
  }
}

TEST_F(ActivityFileTest, StopsReadingAtDamagedChunk) {
  const std::vector<std::string> names = {"one", "two"};
  const std::string whole = EncodeActivities(1, names, RandomActivities(1, 5));
  const std::string more = EncodeActivities(3, {}, RandomActivities(2, 5));
  const auto size = [](const std::string& chunk) {
    uint32_t value = 0;
    for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(chunk[8 + i]);
    return value;
  };
  ASSERT_EQ(size(more), more.size() - 16);
  for (size_t at = 0; at < more.size(); ++at) {
    std::string bad = more;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    Write(whole + bad);
    ActivityFile file;
    ASSERT_TRUE(file.ReadMore(path_).ok());
    EXPECT_EQ(file.activities().size(), 5u) << at;
    bool damaged = true;
    // A changed length may be larger. Then the reader waits for more bytes.
    if (at >= 8 && at < 12) damaged = size(bad) < size(more) || size(bad) > kMaxChunkBytes;
    EXPECT_EQ(file.damaged(), damaged) << at;
  }
}

// Sets a chunk's type and its checksum, as this version (`whole`) or as older versions do.
std::string WithType(std::string chunk, char type, bool whole) {
  chunk[4] = type;
  const std::string_view view = chunk;
  const uint32_t checksum =
      trace::Crc32c(view.substr(16), whole ? trace::Crc32c(view.substr(4, 8)) : 0);
  for (size_t i = 0; i < 4; ++i) chunk[12 + i] = static_cast<char>(checksum >> (8 * i));
  return chunk;
}

TEST_F(ActivityFileTest, ReadsChunksOfOtherVersions) {
  const std::vector<std::string> names = {"one", "two"};
  const std::string rows = EncodeActivities(1, names, RandomActivities(1, 5));
  for (const bool whole : {false, true}) {
    Write(WithType(rows, 1, whole) + WithType(rows, 99, whole));  // 99: of a later version
    ActivityFile file;
    ASSERT_TRUE(file.ReadMore(path_).ok());
    EXPECT_EQ(file.activities().size(), 5u);
    EXPECT_FALSE(file.damaged());
  }
  EXPECT_EQ(WithType(rows, 1, true), rows);
}

TEST_F(ActivityFileTest, DropsInvalidRecords) {
  std::vector<Activity> rows = {
      Of(ActivityKind::kKernel, 1, 1, 10, 20), Of(ActivityKind::kKernel, 9, 1, 10, 20),
      Of(ActivityKind::kKernel, 1, 1, 20, 10), Of(static_cast<ActivityKind>(200), 1, 1, 10, 20),
      Of(ActivityKind::kKernel, 1, 1, -5, 20)};
  rows[0].to = trace::MemorySpace::kDevice;
  const std::vector<std::string> names = {"one"};
  Write(EncodeActivities(1, names, rows));
  ActivityFile file;
  ASSERT_TRUE(file.ReadMore(path_).ok());
  EXPECT_EQ(file.activities().size(), 1u);
  EXPECT_THAT(file.Warnings(), ElementsAre(HasSubstr("4 invalid CUPTI records")));
  Write(EncodeActivities(1, names, rows) + EncodeActivities(9, names, rows));
  ActivityFile gap;
  ASSERT_TRUE(gap.ReadMore(path_).ok());
  EXPECT_TRUE(gap.damaged());
}

TEST_F(ActivityFileTest, RandomBytesAreNoChunk) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string noise(random() % 300, 0);
    for (char& c : noise) c = static_cast<char>(random());
    ActivityChunk chunk;
    size_t used = 0;
    EXPECT_NE(DecodeChunk(noise, used, chunk), Decoded::kChunk);
    EXPECT_NE(DecodeChunk("VSAC" + noise, used, chunk), Decoded::kChunk);
    EXPECT_EQ(used, 0u);
    EXPECT_TRUE(chunk.names.empty() && chunk.activities.empty() && chunk.streams.empty());
  }
  EXPECT_TRUE(absl::IsNotFound(ActivityFile().ReadMore(path_ + ".none")));
}

TEST_F(ActivityFileTest, KernelsGetTheModuleOfTheirLaunch) {
  Marks marks;
  marks.native_threads = {0, 501};  // the system's id of thread 0 is not known
  marks.threads = 2;
  ModuleTimes modules;
  const auto add_event = [&](trace::EventKind kind, uint32_t thread, int64_t time, uint32_t name) {
    trace::Event event;
    event.kind = kind;
    event.thread = thread;
    event.time_ns = time;
    event.name.value = name;
    modules.See(event);
  };
  add_event(trace::EventKind::kModuleBegin, 1, 100, 41);
  add_event(trace::EventKind::kModuleBegin, 1, 200, 42);
  add_event(trace::EventKind::kModuleEnd, 1, 300, 0);
  add_event(trace::EventKind::kModuleEnd, 1, 400, 0);

  const std::vector<std::string> names = {"k", "cudaLaunchKernel"};
  Write(EncodeActivities(
      1, names,
      std::vector{Of(ActivityKind::kKernel, 1, 8, 1900, 2000),  // precedes its call in the file
                  Of(ActivityKind::kRuntimeCall, 2, 7, 1150, 1156, 501),
                  Of(ActivityKind::kRuntimeCall, 2, 8, 1250, 1256, 501),
                  Of(ActivityKind::kRuntimeCall, 2, 9, 1350, 1356, 501),
                  Of(ActivityKind::kRuntimeCall, 2, 10, 1400, 1406, 501),
                  Of(ActivityKind::kRuntimeCall, 2, 11, 1250, 1256, 999),
                  Of(ActivityKind::kKernel, 1, 7, 1500, 1600),
                  Of(ActivityKind::kKernel, 1, 9, 1600, 1700),
                  Of(ActivityKind::kRuntimeCall, 2, 12, 10, 20, 501)}));
  ActivityFile file;
  ASSERT_TRUE(file.ReadMore(path_).ok());
  const PlacedActivities placed = PlaceActivities(file, marks, {}, modules, {}, 1000, 70);
  EXPECT_THAT(placed.strings, ElementsAre("k", "cudaLaunchKernel"));
  std::vector<uint32_t> module, thread;
  for (const Activity& row : placed.rows) {
    module.push_back(row.module.value);
    thread.push_back(row.thread);
    EXPECT_GE(row.begin_ns, 0);
  }
  // Activities that ended before the trace began must be left out.
  EXPECT_THAT(module, ElementsAre(42, 41, 42, 41, 0, 0, 41, 41));
  EXPECT_EQ(thread[1], 1u);
  EXPECT_EQ(thread[5], 2u);  // threads without marks are numbered after threads with marks
  EXPECT_EQ(placed.rows[0].begin_ns, 900);
  EXPECT_EQ(placed.rows[0].name.value, 70u);
}

// If the allocator knows a stream, activities must have the allocator's number for it.
TEST_F(ActivityFileTest, UsesStreamNumbersOfTheAllocator) {
  std::vector<Activity> rows;
  for (const auto& [device, stream] : std::vector<std::pair<uint8_t, uint32_t>>{
           {0, 7}, {0, 13}, {0, 17}, {1, 7}, {1, 13}, {0, 2}, {0, trace::kAllStreams}}) {
    rows.push_back(Of(ActivityKind::kKernel, 0, 0, 2000, 2100));
    rows.back().device = device;
    rows.back().stream = stream;
  }
  rows.push_back(Of(ActivityKind::kRuntimeCall, 0, 0, 2000, 2100, 501));
  constexpr uint64_t kPointer = 0x55d0'1234'5678, kOther = 0x55d0'1234'9999;
  Write(EncodeActivities(1, {}, rows));
  const std::vector<StreamName> names = {
      {0, 0, 7}, {0, kPointer, 13}, {1, 0, 7}, {1, kOther, 13}, {0, 0xdead, 17}};
  Write(EncodeStreams(names), true);
  ActivityFile file;
  ASSERT_TRUE(file.ReadMore(path_).ok());
  EXPECT_EQ(file.streams(), names);
  EXPECT_EQ(file.activities().size(), rows.size());
  recording::Recording recording;
  recording.streams = {0, kPointer, kOther};
  const PlacedActivities placed = PlaceActivities(file, {}, recording, {}, {}, 1000, 70);
  std::vector<uint32_t> streams;
  for (const Activity& row : placed.rows) streams.push_back(row.stream);
  EXPECT_THAT(streams, ElementsAre(0, 1, 17, 0, 2, 2 + (1u << 20), trace::kAllStreams, 0));
}

Activity Memory(ActivityKind kind, uint64_t address, uint64_t bytes, int64_t at) {
  Activity a = Of(kind, 0, 0, at, at);
  a.to = trace::MemorySpace::kDevice;
  a.address = address;
  a.bytes = bytes;
  return a;
}

// Some records arrive late or twice, some overlap, and some lack the alloc or the free.
TEST_F(ActivityFileTest, BuildsMemoryHistoryFromDriverAllocations) {
  constexpr auto kAlloc = ActivityKind::kDriverAlloc, kFree = ActivityKind::kDriverFree;
  std::vector<Activity> rows = {
      Memory(kAlloc, 0x20000, 1000, 30), Memory(kAlloc, 0x10000, 4096, 10),
      Memory(kFree, 0x10000, 0, 20),     Memory(kFree, 0x90000, 0, 25),
      Memory(kAlloc, 0x20000, 1000, 31), Memory(kAlloc, 0x20200, 512, 32),
      Memory(kAlloc, 0x1fe00, 1024, 33), Memory(kAlloc, UINT64_MAX - 5, 99, 34),
      Memory(kAlloc, 0x30000, 0, 35)};
  rows.push_back(Memory(kAlloc, 0x40000, 512, 40));
  rows.back().to = trace::MemorySpace::kPinned;
  Write(EncodeActivities(1, {}, rows));
  ActivityFile file;
  ASSERT_TRUE(file.ReadMore(path_).ok());
  const recording::Recording recording = DriverMemory(file, 5);
  ASSERT_EQ(recording.segments.size(), 1u);
  EXPECT_EQ(recording.segments[0].address, 0x20000u);
  EXPECT_EQ(recording.segments[0].bytes, 1024u);
  const absl::StatusOr<recording::History> history = recording::Reconstruct(recording);
  ASSERT_TRUE(history.ok());
  EXPECT_TRUE(history->left_out.empty());
  EXPECT_THAT(history->allocations.requested, ElementsAre(4096, 1000));
  EXPECT_EQ(recording.entries.time_ns.front(), 5);
}

}  // namespace
}  // namespace vramscope::program
