// Writes snapshots in all forms that exist, and reads them.
#include "profiler/importers/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/profiler/importers/memory_input.h"
#include "tests/profiler/importers/pickle_writer.h"

namespace vramscope::importers {
namespace {

using recording::Action;
using recording::BlockUse;
using recording::Recording;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Json;
using testing::ManyEntries;
using testing::MemoryInput;
using testing::PickleStyle;
using testing::SampleSnapshot;
using testing::ToPickle;

absl::StatusOr<Recording> Read(const std::string& bytes, const SnapshotOptions& options = {},
                               size_t piece = 1 << 20) {
  MemoryInput input(bytes, piece);
  return ReadSnapshot(input, options);
}

Recording MustRead(const std::string& bytes, const SnapshotOptions& options = {}) {
  absl::StatusOr<Recording> r = Read(bytes, options);
  EXPECT_TRUE(r.ok()) << r.status();
  return r.ok() ? *std::move(r) : Recording{};
}

Recording FromJson(const Json& value, const SnapshotOptions& options = {}) {
  return MustRead(ToPickle(value), options);
}

// Frames as text, innermost first.
std::string StackText(const Recording& r, trace::StackId id) {
  std::string out;
  for (const uint32_t f : r.stacks.Frames(id))
    out += r.strings[r.stacks.function[f].value] + " " + r.strings[r.stacks.file[f].value] + ":" +
           std::to_string(r.stacks.line[f]) + "\n";
  return out;
}

// Returns the contents of a Recording as text, so that comparisons do not depend on ids.
std::string Describe(const Recording& r) {
  std::string out = r.alloc_conf + " " + std::to_string(r.start_unix_ns) + "\n";
  const auto add = [&out](auto... values) { ((out += std::to_string(values) + " "), ...); };
  for (uint32_t i = 0; i < r.entries.size(); ++i) {
    add(int(r.entries.action[i]), r.entries.address[i], r.entries.bytes[i], r.entries.time_ns[i],
        r.streams[r.entries.stream[i]], r.entries.DeviceOf(i));
    out += StackText(r, r.entries.stack[i]) + "\n";
  }
  for (const auto& s : r.segments) {
    add(s.address, s.bytes, r.streams[s.stream], s.device, int(s.pool), s.expandable, s.mempool);
    out += StackText(r, s.stack) + "\n";
    for (const auto& b : s.blocks) {
      add(b.address, b.bytes, b.requested, int(b.use), int(b.recorded_category));
      out += StackText(r, b.stack) + "\n";
    }
  }
  for (const auto& a : r.annotations) {
    out += r.strings[a.name.value] + " ";
    add(a.begin_ns, a.end_ns, a.device);
  }
  for (const auto& w : r.warnings) out += "\n" + w;
  return out;
}

TEST(Snapshot, CountsAnnotationsInTheSingularAndPlural) {
  Json s = SampleSnapshot();
  s["device_traces"] = Json::array({Json::array()});  // a state without a history
  EXPECT_THAT(FromJson(s).warnings, ::testing::Contains(HasSubstr("2 annotations are left out")));
  s["external_annotations"].erase(1);
  EXPECT_THAT(FromJson(s).warnings, ::testing::Contains(HasSubstr("1 annotation is left out")));
}

TEST(Snapshot, ReadsAllFieldsOfAPickle) {
  const Recording r = FromJson(SampleSnapshot());
  EXPECT_EQ(r.source, "CUDA memory snapshot (pickle, protocol 4)");
  EXPECT_EQ(r.alloc_conf, "max_split_size_mb:128");
  EXPECT_EQ(r.start_unix_ns, 1'760'000'000'000'000'000);
  EXPECT_TRUE(r.has_segments);
  EXPECT_FALSE(r.overflowed);
  EXPECT_THAT(r.warnings, IsEmpty());
  EXPECT_THAT(r.entries.action,
              ElementsAre(Action::kAlloc, Action::kSegmentAlloc, Action::kAlloc, Action::kAlloc,
                          Action::kFreeRequested, Action::kFreeCompleted, Action::kOutOfMemory,
                          Action::kFreeRequested, Action::kSnapshot));
  EXPECT_EQ(r.entries.address[2], 0x7f0000200000u);
  EXPECT_EQ(r.entries.bytes[2], 4'000'000u);
  EXPECT_EQ(r.entries.time_ns[2], 20'000);
  EXPECT_EQ(r.entries.address[6], 123456u);  // bytes free on the device
  EXPECT_EQ(r.streams[r.entries.stream[2]], 7u);
  EXPECT_EQ(r.entries.stack[1], r.entries.stack[2]);
  EXPECT_EQ(StackText(r, r.entries.stack[0]), "step optim.py:80\n<module> train.py:9\n");
  EXPECT_EQ(r.entries.stack[8].value, 0u);
  EXPECT_EQ(r.stacks.size(), 3u);
  EXPECT_EQ(r.stacks.frame_count(), 5u);

  ASSERT_EQ(r.segments.size(), 2u);  // sorted by address
  const recording::SegmentState& small = r.segments[0];
  EXPECT_EQ(small.address, 0x7f0000000000u);
  EXPECT_EQ(small.pool, trace::Pool::kSmall);
  EXPECT_TRUE(small.expandable);
  EXPECT_EQ(small.mempool, 0u);
  ASSERT_EQ(small.blocks.size(), 2u);
  EXPECT_EQ(small.blocks[0].use, BlockUse::kPendingFree);
  EXPECT_EQ(small.blocks[0].requested, 1000u);
  EXPECT_EQ(small.blocks[1].use, BlockUse::kInactive);
  const recording::SegmentState& large = r.segments[1];
  EXPECT_EQ(large.pool, trace::Pool::kLarge);
  EXPECT_EQ(large.bytes, 20971520u);
  EXPECT_EQ(large.mempool, 2u);
  EXPECT_EQ(r.streams[large.stream], 7u);
  EXPECT_EQ(large.stack, r.entries.stack[1]);
  EXPECT_EQ(large.blocks[0].use, BlockUse::kAllocated);

  ASSERT_EQ(r.annotations.size(), 1u);
  EXPECT_EQ(r.strings[r.annotations[0].name.value], "Optimizer.step#AdamW.step");
  EXPECT_EQ(r.annotations[0].begin_ns, 15'000);
  EXPECT_EQ(r.annotations[0].end_ns, 35'000);
}

TEST(Snapshot, ReadsEveryFormAlike) {
  for (const Json& s : {SampleSnapshot(), ManyEntries(2500)}) {
    const std::string expected = Describe(MustRead(ToPickle(s)));
    for (const int protocol : {2, 3, 4, 5})
      for (const bool python : {true, false})
        for (const bool one_by_one : {false, true}) {
          SCOPED_TRACE(::testing::Message() << protocol << python << one_by_one);
          const PickleStyle style{protocol, python, 1000, one_by_one};
          EXPECT_EQ(Describe(MustRead(ToPickle(s, style))), expected);
        }
    // The batches are so small that they end within frames, blocks and entries.
    EXPECT_EQ(Describe(MustRead(ToPickle(s, {4, true, 2}))), expected);
    EXPECT_EQ(Describe(MustRead(s.dump())), expected);
    EXPECT_EQ(Describe(MustRead(s.dump(2))), expected);
    for (const size_t piece : {1, 7, 64, 1000}) {
      const auto pickle = Read(ToPickle(s), {}, piece);
      ASSERT_TRUE(pickle.ok()) << pickle.status();
      EXPECT_EQ(Describe(*pickle), expected);
      const auto json = Read(s.dump(), {}, piece);
      ASSERT_TRUE(json.ok()) << json.status();
      EXPECT_EQ(Describe(*json), expected);
    }
  }
}

TEST(Snapshot, ReadsKeysInAnyOrder) {
  const Json s = SampleSnapshot();
  const Json sorted = Json::parse(nlohmann::json::parse(s.dump()).dump());
  EXPECT_EQ(Describe(FromJson(sorted)), Describe(FromJson(s)));
  EXPECT_EQ(Describe(MustRead(ToPickle(sorted, {2, true, 1000, true}))), Describe(FromJson(s)));
}

TEST(Snapshot, ReadsTheHeadFirst) {
  for (const std::string& bytes : {ToPickle(SampleSnapshot()), SampleSnapshot().dump()})
    for (const size_t taken : {size_t{1}, size_t{100}, bytes.size()}) {
      MemoryInput input(bytes.substr(taken));
      SnapshotOptions options;
      const std::string head = bytes.substr(0, taken);
      options.head = head;
      const auto r = ReadSnapshot(input, options);
      ASSERT_TRUE(r.ok()) << r.status();
      EXPECT_EQ(r->entries.size(), 9u);
    }
}

TEST(Snapshot, AddressesAreUnsigned) {
  Json s;
  s["segments"] = Json::array();
  const uint64_t high = 0xfffff00000000000;
  s["device_traces"] = Json::array(
      {Json::array({{{"action", "alloc"}, {"addr", high}, {"size", 512}, {"time_us", 5}},
                    {{"action", "free_completed"},
                     {"addr", static_cast<int64_t>(high)},
                     {"size", 512},
                     {"time_us", 6}}})});
  for (const std::string& bytes : {ToPickle(s), s.dump()}) {
    const Recording r = MustRead(bytes);
    EXPECT_THAT(r.entries.address, ElementsAre(high, high));
  }
}

TEST(Snapshot, MergesDevicesByTime) {
  const auto entry = [](int time, int size) {
    return Json{{"action", "alloc"}, {"addr", 4096}, {"size", size}, {"time_us", time}};
  };
  Json s;
  s["device_traces"] =
      Json::array({Json::array({entry(100, 1), entry(300, 2), entry(300, 3)}), Json::array(),
                   Json::array({entry(50, 4), entry(300, 5), entry(290, 6)})});
  const Recording r = FromJson(s);
  EXPECT_EQ(r.start_unix_ns, 50'000);
  EXPECT_THAT(r.entries.bytes, ElementsAre(4, 1, 2, 3, 5, 6));
  EXPECT_THAT(r.entries.device, ElementsAre(2, 0, 0, 0, 2, 2));
  EXPECT_THAT(r.entries.time_ns, ElementsAre(0, 50'000, 250'000, 250'000, 250'000, 250'000));
  EXPECT_FALSE(r.has_segments);
  EXPECT_THAT(r.warnings,
              ElementsAre(HasSubstr("1 entry with an earlier time than the previous entry")));
}

TEST(Snapshot, KeepsTheNumberOfASingleDevice) {
  Json s;
  s["device_traces"] =
      Json::array({Json::array(), Json::array({{{"action", "alloc"}, {"addr", 1}, {"size", 1}}})});
  const Recording r = FromJson(s);
  EXPECT_THAT(r.entries.device, ElementsAre(1));
}

TEST(Snapshot, ReadsFieldsOfOldVersions) {
  const Json frames = {{{"name", "f"}, {"filename", "a.py"}, {"line", 3}}};
  Json s;
  s["segments"] = {{{"device", 1},
                    {"address", 8192},
                    {"total_size", 4096},
                    {"stream", 0},
                    {"segment_type", "small"},
                    {"blocks",
                     {{{"size", 1024},
                       {"state", "active_allocated"},
                       {"history",
                        {{{"addr", 8192}, {"real_size", 1000}, {"frames", frames}},
                         {{"addr", 8192}, {"real_size", 7}}}}},
                      {{"size", 512}, {"state", "active_awaiting_free"}},
                      {{"size", 2560}, {"state", "inactive"}}}}}};
  s["device_traces"] = Json::array(
      {Json::array(), Json::array({{{"action", "alloc"}, {"addr", 8192}, {"size", 1}},
                                   {{"action", "free"}, {"addr", 8192}, {"size", 1}}})});
  const Recording r = FromJson(s);
  ASSERT_EQ(r.segments.size(), 1u);
  const auto& blocks = r.segments[0].blocks;
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].requested, 1000u);
  EXPECT_EQ(StackText(r, blocks[0].stack), "f a.py:3\n");
  EXPECT_EQ(blocks[1].address, 8192u + 1024);
  EXPECT_EQ(blocks[1].use, BlockUse::kPendingFree);
  EXPECT_EQ(blocks[1].requested, 512u);  // not stated, so the size of the block is used
  EXPECT_EQ(blocks[2].address, 8192u + 1536);
  EXPECT_THAT(r.entries.action, ElementsAre(Action::kAlloc, Action::kFreeCompleted));
  EXPECT_FALSE(r.has_times);
  EXPECT_THAT(r.entries.time_ns, ElementsAre(0, 1));  // numbers replace missing times
  EXPECT_EQ(r.start_unix_ns, 0);
  EXPECT_THAT(r.warnings, IsEmpty());
}

TEST(Snapshot, WarnsAboutContentsNotShown) {
  Json s = SampleSnapshot();
  // Changes a copy: references into `s` would become invalid when keys are added to it.
  Json trace = s["device_traces"][0];
  const Json host_trace = trace, segments = s["segments"];
  trace[0]["compile_context"] = "0/0";
  trace[1]["user_metadata"] = "a run's own note";
  trace[2]["user_metadata"] = "another";
  trace[8]["action"] = "reshuffle";
  s["device_traces"][0] = trace;
  s["host_segments"] = segments;
  s["host_traces"] = Json::array({host_trace});
  s["allocator_settings"]["trace_alloc_max_entries"] = 9;
  s["allocator_settings"]["trace_alloc_overflowed"] = true;
  s["something_new"] = {{"a", {1, 2, {{"b", "c"}}}}};
  const Recording r = FromJson(s);
  EXPECT_TRUE(r.overflowed);
  EXPECT_EQ(r.entries.size(), 9u);
  EXPECT_EQ(r.segments.size(), 2u);
  EXPECT_EQ(r.entries.action[8], Action::kOther);
  EXPECT_THAT(
      r.warnings,
      ElementsAre(HasSubstr("buffer of 9 entries was full"),
                  HasSubstr("host memory is not shown. Left out: 2 segments (23068672 bytes), 2 "
                            "blocks in use (4195328 bytes), and 9 "),
                  HasSubstr("1 'reshuffle'")));
}

TEST(Snapshot, KeepsMetadataAndCompileContexts) {
  Json s = SampleSnapshot();
  Json trace = s["device_traces"][0];
  trace[0]["compile_context"] = "N/A";
  trace[0]["user_metadata"] = "";
  trace[1]["user_metadata"] = "layer 1";
  trace[2]["compile_context"] = "0/0";
  trace[4]["user_metadata"] = "layer 1";
  s["device_traces"][0] = trace;
  for (const std::string& bytes : {ToPickle(s), ToPickle(s, {4, true, 1000, true}), s.dump()}) {
    const Recording r = MustRead(bytes);
    EXPECT_THAT(r.warnings, IsEmpty());
    std::vector<std::string> metadata, contexts;
    for (uint32_t i = 0; i < 5; ++i) {
      metadata.push_back(r.strings[r.entries.UserMetadataOf(i).value]);
      contexts.push_back(r.strings[r.entries.CompileContextOf(i).value]);
    }
    EXPECT_THAT(metadata, ElementsAre("", "layer 1", "", "", "layer 1"));
    EXPECT_THAT(contexts, ElementsAre("", "", "0/0", "", ""));
    SnapshotOptions part;
    part.first_entry = 2;
    part.last_entry = 4;
    const Recording p = MustRead(bytes, part);
    EXPECT_EQ(p.strings[p.entries.UserMetadataOf(2).value], "layer 1");
    EXPECT_EQ(p.strings[p.entries.CompileContextOf(0).value], "0/0");
  }
}

// Regression test (inv_reimport_1 in ../shared/repro): a first entry without a time was imported
// with -2 microseconds.
TEST(Snapshot, ReadsNegativeTimesAndLines) {
  Json s = SampleSnapshot();
  Json trace = s["device_traces"][0];
  trace[0].erase("time_us");
  trace[1].erase("time_us");
  trace[2]["time_us"] = 0;
  s["device_traces"][0] = trace;
  EXPECT_EQ(FromJson(s).start_unix_ns, 0);
  trace[0]["time_us"] = uint64_t{0} - 2;
  trace[1]["time_us"] = -1;
  trace[0]["frames"] = {{{"name", "f"}, {"filename", "a.py"}, {"line", -1}}};
  s["device_traces"][0] = trace;
  const Recording r = FromJson(s);
  EXPECT_EQ(r.start_unix_ns, -2000);
  EXPECT_EQ(r.entries.time_ns[2], 2000);
  const uint32_t frame = r.stacks.Frames(r.entries.stack[0])[0];
  EXPECT_EQ(static_cast<int32_t>(r.stacks.line[frame]), -1);
}

TEST(Snapshot, ReadsAnnotationsOfBlocks) {
  Json s = SampleSnapshot();
  Json trace = s["device_traces"][0];
  trace[7]["action"] = "annotate";
  trace[7]["user_metadata"] = "activation -> gradient";
  trace[7]["category"] = "gradient";
  trace[8]["action"] = "annotate";
  trace[8]["user_metadata"] = "packed for backward";
  s["device_traces"][0] = trace;
  const Recording r = FromJson(s);
  EXPECT_EQ(r.entries.action[7], Action::kCategory);
  EXPECT_EQ(r.entries.action[8], Action::kAnnotate);
  EXPECT_EQ(r.entries.recorded_category[7], trace::Category::kGradient);
  EXPECT_EQ(r.entries.recorded_category[8], trace::Category::kUnknown);
  // The first text describes the category and is dropped. The second is the user's and is kept.
  EXPECT_EQ(r.entries.UserMetadataOf(7).value, 0u);
  EXPECT_EQ(r.strings[r.entries.UserMetadataOf(8).value], "packed for backward");
  EXPECT_THAT(r.warnings, IsEmpty());
}

// If vramscope wrote a snapshot and its categories were not inferred, then "unknown" counts as a
// stated category.
TEST(Snapshot, CategoriesOfAnExportAreComplete) {
  Json s = SampleSnapshot();
  Json trace = s["device_traces"][0];
  trace[0]["category"] = "input";
  trace[7]["action"] = "annotate";
  trace[7]["category"] = "unknown";
  s["device_traces"][0] = trace;
  EXPECT_FALSE(FromJson(s).labels_are_complete);
  EXPECT_EQ(FromJson(s).entries.action[7], Action::kAnnotate);
  s["vramscope"] = {{"version", 1}, {"producer", "test"}, {"inferred", false}};
  EXPECT_TRUE(FromJson(s).labels_are_complete);
  EXPECT_EQ(FromJson(s).entries.action[7], Action::kCategory);
  s["vramscope"]["inferred"] = true;
  EXPECT_FALSE(FromJson(s).labels_are_complete);
  // This file was also written by vramscope, but without categories.
  s = SampleSnapshot();
  s["vramscope"] = {{"version", 1}, {"producer", "test"}, {"inferred", false}};
  EXPECT_FALSE(FromJson(s).labels_are_complete);
}

TEST(Snapshot, ReadsCategoriesOfTheViewerExtension) {
  Json s = SampleSnapshot();
  s["categories"] = {"unknown", "OPTIMIZER_STATE", "Activation"};
  s["device_traces"][0][0]["category"] = 1;
  s["device_traces"][0][2]["category"] = 2;
  s["device_traces"][0][3]["category"] = 77;
  s["segments"][0]["blocks"][0]["category"] = 2;
  using trace::Category;
  const Recording r = FromJson(s);
  ASSERT_EQ(r.entries.recorded_category.size(), 9u);
  EXPECT_EQ(r.entries.recorded_category[0], Category::kOptimizerState);
  EXPECT_EQ(r.entries.recorded_category[1], Category::kUnknown);
  EXPECT_EQ(r.entries.recorded_category[2], Category::kActivation);
  EXPECT_EQ(r.entries.recorded_category[3], Category::kUnknown);
  EXPECT_EQ(r.segments[1].blocks[0].recorded_category, Category::kActivation);
  EXPECT_EQ(r.segments[0].blocks[0].recorded_category, Category::kUnknown);
  EXPECT_FALSE(r.labels_are_inferred);

  s["vramscope"] = {{"inferred", true}};
  const Recording inferred = FromJson(s);
  EXPECT_TRUE(inferred.labels_are_inferred);
  EXPECT_THAT(inferred.entries.recorded_category, IsEmpty());
  EXPECT_EQ(inferred.segments[1].blocks[0].recorded_category, Category::kUnknown);
}

TEST(Snapshot, BuildsAllocConfFromSingleSettings) {
  Json s = SampleSnapshot();
  s["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"] = "";
  const std::string conf = FromJson(s).alloc_conf;
  EXPECT_THAT(conf, HasSubstr("max_split_size_mb:128"));
  EXPECT_THAT(conf, HasSubstr("garbage_collection_threshold:0.5"));
  EXPECT_THAT(conf, HasSubstr("roundup_power2_divisions"));
  EXPECT_EQ(MustRead(s.dump()).alloc_conf, conf);
}

TEST(Snapshot, CompletesUnpairedAnnotations) {
  Json s = SampleSnapshot();
  const int64_t start = 1'760'000'000'000'000;
  const auto mark = [&](const char* stage, const char* name, int64_t time) {
    return Json{{"stage", stage}, {"name", name}, {"device", 0}, {"time_us", start + time}};
  };
  s["external_annotations"] =
      Json::array({mark("START", "long ago", -50), mark("END", "long ago", -40),
                   mark("START", "a", -5), mark("START", "a", 10), mark("END", "a", 20),
                   mark("END", "a", 30), mark("END", "b", 40), mark("START", "c", 50)});
  const Recording r = FromJson(s);
  std::vector<std::string> seen;
  for (const auto& a : r.annotations)
    seen.push_back(r.strings[a.name.value] + " " + std::to_string(a.begin_ns) + " " +
                   std::to_string(a.end_ns));
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("a 0 30000", "a 10000 20000", "b 0 40000",
                                                    "c 50000 80000"));
  EXPECT_TRUE(std::ranges::is_sorted(r.annotations, {}, &recording::Annotation::begin_ns));
}

TEST(Snapshot, ReadsARangeOfEntries) {
  const Json s = SampleSnapshot();
  SnapshotOptions options;
  options.first_entry = 3;
  options.last_entry = 4;
  const Recording r = FromJson(s, options);
  EXPECT_THAT(r.entries.action, ElementsAre(Action::kAlloc, Action::kFreeRequested));
  EXPECT_THAT(r.entries.time_ns, ElementsAre(30'000, 40'000));
  EXPECT_THAT(r.warnings, ElementsAre("entries 3 to 4 of 9 are loaded, as requested"));
  // The segments have their state after the range, in which the large one's second block is in
  // use.
  ASSERT_EQ(r.segments.size(), 2u);
  ASSERT_GE(r.segments[1].blocks.size(), 2u);
  EXPECT_EQ(r.segments[1].blocks[1].bytes, 8388608u);
  EXPECT_EQ(r.segments[1].blocks[1].use, BlockUse::kPendingFree);
  EXPECT_EQ(r.segments[0].blocks[0].use, BlockUse::kAllocated);

  SnapshotOptions times;
  times.from_ns = 25'000;
  times.to_ns = 40'000;
  const Recording by_time = FromJson(s, times);
  EXPECT_EQ(Describe(by_time), Describe(r));

  // A range without entries is an error.
  options = {};
  options.first_entry = 100;
  const absl::Status none = Read(ToPickle(s), options).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(none.message()),
              HasSubstr("entries 0 to 8, and the last entry is 0.080 ms after"));
}

// An annotation must end with the range, or the trace would last as long as the annotation.
TEST(Snapshot, EndsAnnotationsWithTheRange) {
  SnapshotOptions options;
  options.first_entry = 1;
  options.last_entry = 2;  // at 20 us; the annotation is from 15 to 35 us
  const Recording part = FromJson(SampleSnapshot(), options);
  ASSERT_EQ(part.annotations.size(), 1u);
  EXPECT_EQ(part.annotations[0].end_ns, 20'000);
  options.last_entry = UINT64_MAX;
  EXPECT_EQ(FromJson(SampleSnapshot(), options).annotations[0].end_ns, 35'000);
}

TEST(Snapshot, ReadsAnEmptySnapshot) {
  Json s;
  s["segments"] = Json::array();
  s["device_traces"] = Json::array({Json::array()});
  for (const std::string& bytes : {ToPickle(s), s.dump()}) {
    const Recording r = MustRead(bytes);
    EXPECT_TRUE(r.has_segments);
    EXPECT_EQ(r.entries.size(), 0u);
  }
}

TEST(Snapshot, ReportsProgressAndCanBeCancelled) {
  const std::string bytes = ToPickle(ManyEntries(20'000));
  std::vector<double> seen;
  std::atomic<bool> cancel = false;
  SnapshotOptions options;
  options.cancel = &cancel;
  options.progress = [&](double f) { seen.push_back(f); };
  EXPECT_TRUE(Read(bytes, options).ok());
  EXPECT_GT(seen.size(), 2u);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(seen.back(), 1);

  for (const std::string& form : {bytes, ManyEntries(20'000).dump()}) {
    cancel = false;
    MemoryInput input(form, 1000, [&](uint64_t at) {
      if (at > form.size() / 2) cancel = true;
    });
    const auto r = ReadSnapshot(input, options);
    EXPECT_EQ(r.status().code(), absl::StatusCode::kCancelled) << r.status();
  }
}

TEST(Snapshot, PreviewHasEntriesReadSoFar) {
  const std::string bytes = ToPickle(ManyEntries(3'000));
  bool slept = false;
  MemoryInput input(bytes, 1000, [&](uint64_t at) {
    if (at < bytes.size() / 2 || slept) return;
    slept = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  });
  int calls = 0;
  SnapshotOptions options;
  options.preview = [&](const Recording& so_far) {
    ++calls;
    EXPECT_GT(so_far.entries.size(), 0u);
    EXPECT_LT(so_far.entries.size(), 3'000u);
    EXPECT_EQ(so_far.entries.time_ns.size(), so_far.entries.size());
    EXPECT_EQ(so_far.stacks.size(), 11u);
  };
  EXPECT_TRUE(ReadSnapshot(input, options).ok());
  EXPECT_GE(calls, 1);
}

}  // namespace
}  // namespace vramscope::importers
