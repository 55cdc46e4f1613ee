// Cuts ranges out while a snapshot is read. Compares them with ranges of the complete
// recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/importers/snapshot.h"
#include "tests/fuzz/recording_checks.h"
#include "tests/profiler/importers/memory_input.h"
#include "tests/profiler/importers/pickle_writer.h"

namespace vramscope::importers {
namespace {

using fuzz::Difference;
using recording::Recording;
using testing::Json;
using testing::ManyEntries;
using testing::MemoryInput;
using testing::PickleStyle;
using testing::SampleSnapshot;
using testing::ToPickle;

// Cuts the range out while reading. Also returns how many times the bytes were read.
std::pair<absl::StatusOr<Recording>, int> Cut(const std::string& bytes, SnapshotOptions options) {
  int times = 1;
  options.again = [&] {
    ++times;
    return std::make_unique<MemoryInput>(bytes);
  };
  MemoryInput input(bytes);
  absl::StatusOr<Recording> r = ReadSnapshot(input, options);
  return {std::move(r), times};
}

// Compares several ranges of entries and of times. For each, the bytes must be read `times` times.
void ExpectSame(const std::string& bytes, int times) {
  MemoryInput input(bytes);
  const absl::StatusOr<Recording> whole = ReadSnapshot(input, {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  const uint32_t n = whole->entries.size();
  for (const auto& [from, to] : std::vector<std::pair<uint32_t, uint32_t>>{{0, 0},
                                                                           {0, n / 2},
                                                                           {1, 2},
                                                                           {n / 3, n / 2},
                                                                           {n / 2, n},
                                                                           {n - 1, n - 1},
                                                                           {n, 2 * n},
                                                                           {3, 1}})
    for (const bool by_time : {false, true}) {
      SnapshotOptions options;
      if (by_time) {
        options.from_ns = from < n ? whole->entries.time_ns[from] : INT64_MAX;
        options.to_ns = to < n ? whole->entries.time_ns[to] : INT64_MAX - 1;
      } else {
        options.first_entry = from;
        options.last_entry = to;
      }
      SCOPED_TRACE(::testing::Message() << from << " to " << to << ", by time: " << by_time);
      MemoryInput once(bytes);
      const absl::StatusOr<Recording> part = ReadSnapshot(once, options);
      const auto [cut, read] = Cut(bytes, options);
      EXPECT_EQ(read, times);
      ASSERT_EQ(part.status(), cut.status());
      if (part.ok()) {
        EXPECT_EQ(Difference(*part, *cut), "");
      } else {
        EXPECT_EQ(part.status().code(), absl::StatusCode::kOutOfRange) << part.status();
      }
    }
}

TEST(SnapshotRange, MatchesTheWholeFileInEveryForm) {
  for (const Json& s : {SampleSnapshot(), ManyEntries(40)})
    for (const PickleStyle& style : {PickleStyle{}, PickleStyle{2, false}, PickleStyle{4, true, 7},
                                     PickleStyle{4, true, 13},  // the last batch is one entry
                                     PickleStyle{4, true, 1000, true}})
      ExpectSame(ToPickle(s, style), 1);
  ExpectSame(SampleSnapshot().dump(), 1);
}

TEST(SnapshotRange, MatchesForADeviceOtherThanTheFirst) {
  Json s = SampleSnapshot();
  s["device_traces"].insert(s["device_traces"].begin(), Json::array());
  s["device_traces"].push_back(Json::array());
  for (Json& segment : s["segments"]) segment["device"] = 1;
  ExpectSame(ToPickle(s), 1);
  ExpectSame(s.dump(), 1);
}

TEST(SnapshotRange, MatchesWithUnusualTimesAndCategories) {
  Json s = SampleSnapshot();
  Json& trace = s["device_traces"][0];
  trace[0]["category"] = "GRADIENT";
  trace[3]["time_us"] = 5;  // earlier than all other entries
  trace[5].erase("time_us");
  ExpectSame(ToPickle(s), 1);
  trace[0].erase("time_us");
  ExpectSame(ToPickle(s), 1);
}

TEST(SnapshotRange, MatchesIfTheFileForgetsItsSegments) {
  Json s = SampleSnapshot();
  s["segments"] = Json::array();
  Json first = s["device_traces"][0][0];
  first["action"] = "segment_alloc";
  s["device_traces"][0].insert(s["device_traces"][0].begin(), first);
  ExpectSame(ToPickle(s), 1);
}

// Pinned host memory has entries of segments, too.
TEST(SnapshotRange, HostMemoryIsNoSegmentThatTheFileForgets) {
  Json s = SampleSnapshot();
  Json segment = s["device_traces"][0][0];
  segment["action"] = "segment_alloc";
  s["host_traces"] = Json::array({Json::array({segment})});
  s["device_traces"] = Json::array({Json::array()});
  s["segments"] = Json::array();
  MemoryInput input(s.dump());
  const absl::StatusOr<Recording> r = ReadSnapshot(input, {});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_TRUE(r->has_segments);
  ExpectSame(s.dump(), 1);
}

TEST(SnapshotRange, IgnoresHostMemory) {
  Json s = SampleSnapshot();
  s["host_segments"] = s["segments"];
  s["host_traces"] = s["device_traces"];
  ExpectSame(ToPickle(s), 1);
  ExpectSame(ToPickle(s, {4, true, 1000, true}),
             2);  // without MARK opcodes, host lists are not recognized
  s["host_traces"].push_back(s["device_traces"][0]);
  ExpectSame(ToPickle(s), 1);
}

// With several devices, the common order of the entries is not known before the file's end.
// PyTorch before 2.1 wrote such files, which have no history.
TEST(SnapshotRange, RejectsARangeOfAFileThatKeptOneEntry) {
  Json s = SampleSnapshot();
  Json& trace = s["device_traces"][0];
  trace = Json::array({trace[0]});
  MemoryInput input(s.dump());
  const absl::StatusOr<Recording> whole = ReadSnapshot(input, {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_EQ(whole->content, trace::Content::kState);
  ExpectSame(s.dump(), 1);
  ExpectSame(ToPickle(s), 1);
}

TEST(SnapshotRange, ReadsFilesOfSeveralDevicesTwice) {
  Json s = SampleSnapshot();
  s["device_traces"].push_back(ManyEntries(20)["device_traces"][0]);
  ExpectSame(ToPickle(s), 2);
  ExpectSame(s.dump(), 2);
  // That there is a second device (with one entry) is not known before the end.
  s["device_traces"][1] = Json::array({s["device_traces"][1][0]});
  ExpectSame(ToPickle(s), 2);
}

TEST(SnapshotRange, ReadsOnceWithoutARange) {
  Json s = SampleSnapshot();
  s["device_traces"].push_back(s["device_traces"][0]);
  EXPECT_EQ(Cut(ToPickle(s), {}).second, 1);
}

TEST(SnapshotRange, KeepsStacksOfBlocksFromBeforeTheRange) {
  SnapshotOptions options;
  options.first_entry = 4;  // the free of a block of the large segment
  const Recording r = Cut(ToPickle(SampleSnapshot()), options).first.value();
  ASSERT_EQ(r.older.size(), 3u);
  EXPECT_EQ(r.older[0].address, 0x7f0000000000u);
  EXPECT_EQ(r.older[2].requested, 8388608u);
  const absl::StatusOr<recording::History> h = recording::Reconstruct(r);
  ASSERT_TRUE(h.ok()) << h.status();
  ASSERT_EQ(h->older, 3u);
  const recording::History::Allocations& a = h->allocations;
  EXPECT_EQ(a.address[2], 0x7f0000600000u);
  EXPECT_NE(a.free_completed[2], recording::kNoEntry);
  EXPECT_EQ(a.stack[2], r.older[2].stack);
  EXPECT_NE(a.stack[2].value, 0u);
}

// If the file has no segments, only entries before the range mention blocks that outlive it.
TEST(SnapshotRange, StartsWithEarlierBlocksIfSegmentsAreMissing) {
  Json s = SampleSnapshot();
  s.erase("segments");
  SnapshotOptions options;
  options.first_entry = 4;
  options.last_entry = 4;
  const Recording r = Cut(ToPickle(s), options).first.value();
  const absl::StatusOr<recording::History> h = recording::Reconstruct(r);
  ASSERT_TRUE(h.ok()) << h.status();
  EXPECT_EQ(h->older, 3u);
  EXPECT_THAT(h->allocations.requested, ::testing::ElementsAre(1000u, 4'000'000u, 8'388'608u));
  fuzz::CheckTrace(r);
}

TEST(SnapshotRange, MatchesForSharedSnapshots) {
  const std::filesystem::path folder = std::string(VRAMSCOPE_SOURCE_DIR) + "/../shared/snapshots";
  if (!std::filesystem::exists(folder / "index.json"))
    GTEST_SKIP() << "no ../shared/snapshots beside the sources";
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string path = file.path().string();
    if (path.find(".pickle") == path.npos) continue;
    SCOPED_TRACE(path);
    SnapshotOptions options;
    options.first_entry = 2000;
    options.last_entry = 3000;
    const auto open = [&path] { return trace::InputStream::Open(path); };
    auto input = open();
    ASSERT_TRUE(input.ok()) << input.status();
    const absl::StatusOr<Recording> part = ReadSnapshot(**input, options);
    ASSERT_TRUE(part.ok()) << part.status();
    options.again = [] { return absl::InternalError("read a second time"); };
    input = open();
    const absl::StatusOr<Recording> cut = ReadSnapshot(**input, options);
    ASSERT_TRUE(cut.ok()) << cut.status();
    EXPECT_EQ(Difference(*part, *cut), "");
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace vramscope::importers
