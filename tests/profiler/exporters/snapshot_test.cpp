#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/exporters/end_state.h"
#include "profiler/exporters/memory_snapshot.h"
#include "tests/profiler/exporters/sample_trace.h"
#include "tests/profiler/exporters/unpickle.h"

namespace vramscope::exporters {
namespace {

using nlohmann::json;
using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;

constexpr uint64_t kMiB = uint64_t{1} << 20;

json Export(const trace::Trace& trace, const SnapshotOptions& options = {}) {
  std::ostringstream out;
  const absl::Status status = WriteSnapshot(trace, out, options);
  EXPECT_TRUE(status.ok()) << status;
  return Unpickle(out.str());
}

std::vector<std::string> Actions(const json& entries) {
  std::vector<std::string> actions;
  for (const json& entry : entries) actions.push_back(entry["action"]);
  return actions;
}

// Builds a list of events. Each is one microsecond after the one before.
struct Events {
  std::vector<Event> list;
  Event& Add(EventKind kind, uint64_t id, uint64_t address = 0, uint64_t bytes = 0) {
    Event e;
    e.kind = kind;
    e.id = id;
    e.address = address;
    e.bytes = bytes;
    e.bytes_rounded = kind == EventKind::kAlloc ? (bytes + 511) / 512 * 512 : 0;
    e.time_ns = static_cast<int64_t>(list.size()) * 1000;
    return list.emplace_back(e);
  }
  std::shared_ptr<const trace::Trace> Build(trace::TraceInfo info,
                                            const std::vector<std::string>& strings = {""},
                                            const trace::StackIncrement& stacks = {}) const {
    trace::TraceBuilder builder;
    builder.SetInfo(std::move(info));
    absl::Status status = builder.AddStrings(0, strings);
    EXPECT_TRUE(status.ok()) << status;
    if (!stacks.lengths.empty()) {
      status = builder.AddStacks(stacks);
      EXPECT_TRUE(status.ok()) << status;
    }
    status = builder.AddEvents(list);
    EXPECT_TRUE(status.ok()) << status;
    return builder.Finish(true, "");
  }
};

trace::TraceInfo Imported() {
  trace::TraceInfo info;
  info.producer = "test";
  info.backend = trace::Backend::kImported;
  info.start_unix_ns = 1'700'000'000'000'000'000;
  return info;
}

TEST(Snapshot, WritesEntriesAndCategoriesOfAPlan) {
  const auto trace = SmallTrace();
  const json file = Export(*trace);
  EXPECT_TRUE(file["segments"].empty()) << "everything is freed at the end";
  ASSERT_EQ(file["device_traces"].size(), 1u);
  const json& entries = file["device_traces"][0];
  EXPECT_EQ(entries.front(), json({{"action", "segment_alloc"},
                                   {"addr", 0x10000000},
                                   {"size", 2 << 20},
                                   {"stream", 0},
                                   {"time_us", 1},
                                   {"category", "unknown"}}));
  EXPECT_EQ(entries[1], json({{"action", "alloc"},
                              {"addr", 0x10000000},
                              {"size", 1000},
                              {"stream", 0},
                              {"time_us", 1},
                              {"frames",
                               {{{"name", "aten::empty"}, {"filename", "fc"}, {"line", 0}},
                                {{"name", "fc"}, {"filename", ""}, {"line", 0}}}},
                              {"category", "parameter"}}));
  EXPECT_THAT(
      Actions(entries),
      testing::ElementsAre("segment_alloc", "alloc", "alloc", "annotate", "annotate", "alloc",
                           "free_requested", "free_completed", "free_requested", "free_completed",
                           "alloc", "annotate", "annotate", "alloc", "free_requested",
                           "free_completed", "free_requested", "free_completed", "oom",
                           "free_requested", "free_completed", "segment_free"));
  EXPECT_EQ(entries[18]["device_free"], 12345);
  EXPECT_EQ(entries[18]["size"], uint64_t{1} << 40);
  EXPECT_FALSE(entries[18].contains("addr"));
  EXPECT_EQ(entries[2]["category"], "activation") << "its category for most of its lifetime";
  EXPECT_EQ(entries[3]["category"], "temporary") << "its category at allocation";
  EXPECT_EQ(entries[3]["user_metadata"], "made as temporary");
  EXPECT_EQ(entries[3]["time_us"], entries[2]["time_us"]);
  EXPECT_EQ(entries[4]["category"], "activation");
  EXPECT_EQ(entries[4]["user_metadata"], "temporary -> activation");
  EXPECT_EQ(entries[4]["addr"], entries[2]["addr"]);
  EXPECT_GT(entries[4]["time_us"], entries[2]["time_us"]);
  EXPECT_EQ(file["categories"].back(), "unknown");
  EXPECT_EQ(file["vramscope"]["inferred"], false);
  EXPECT_EQ(file["allocator_settings"]["max_split_size"], -1);
}

TEST(Snapshot, WritesPhasesAndStepsAsAnnotations) {
  const json file = Export(*SmallTrace());
  std::vector<std::string> marks;
  for (const json& a : file["external_annotations"])
    marks.push_back(a["stage"].get<std::string>() + " " + a["name"].get<std::string>());
  ASSERT_EQ(marks.size(), 28u);
  EXPECT_THAT(std::vector(marks.begin(), marks.begin() + 4),
              testing::ElementsAre("START ProfilerStep#0", "START micro-batch 0",
                                   "START ## forward ##", "END ## forward ##"));
  EXPECT_EQ(marks.back(), "END ProfilerStep#1");
}

// In a plan, hundreds of events and the begin of a phase may be in the same microsecond.
TEST(Snapshot, EntriesStayOnTheirSideOfAPhaseBoundary) {
  TraceMaker maker;
  maker.At(5000);
  maker.Segment(2 * kMiB, 0x10000000);
  const uint32_t before = maker.Alloc(512, 512, 0x10000000, Category::kActivation);
  maker.Begin(EventKind::kPhaseBegin, static_cast<uint64_t>(Phase::kBackward));
  maker.Free(before);
  maker.Alloc(512, 512, 0x10000000, Category::kGradient);
  maker.End(EventKind::kPhaseEnd);
  maker.Alloc(512, 512, 0x10000200, Category::kTemporary);
  const json file = Export(*maker.Finish());
  const int64_t start = file["external_annotations"][0]["time_us"];
  const int64_t end = file["external_annotations"][1]["time_us"];
  const json& entries = file["device_traces"][0];
  EXPECT_LT(entries[1]["time_us"], start);
  EXPECT_GE(entries[2]["time_us"], start);
  EXPECT_LT(entries[4]["time_us"], end);
  EXPECT_GE(entries[5]["time_us"], end);
}

TEST(Snapshot, OmitsCategoriesAndAnnotationsIfDisabled) {
  const json file = Export(*SmallTrace(), {.categories = false, .annotations = false});
  EXPECT_FALSE(file.contains("categories"));
  EXPECT_TRUE(file["external_annotations"].empty());
  for (const json& entry : file["device_traces"][0]) {
    EXPECT_FALSE(entry.contains("category"));
    EXPECT_NE(entry["action"], "annotate");
  }
}

// Annotations of the user are written, but no annotations for inferred categories.
TEST(Snapshot, KeepsUserAnnotationsButNotInferredOnes) {
  Events events;
  events.Add(EventKind::kSegmentAlloc, 0, 0x7f00'0000'0000, 2 * kMiB);
  events.Add(EventKind::kMarker, 0).name.value = 1;
  events.Add(EventKind::kAlloc, 0, 0x7f00'0000'0000, 1000).category = Category::kTemporary;
  events.list.back().detail = 7;
  events.Add(EventKind::kRetag, 0).category = Category::kGradient;
  events.list.back().detail = 7;
  events.Add(EventKind::kMarker, 0, 0x7f00'0000'0000, 1000).name.value = 2;
  const json file = Export(
      *events.Build(Imported(), {"", std::string(trace::kMarkerRecordingBegin), "annotate"}));
  const json& entries = file["device_traces"][0];
  EXPECT_THAT(Actions(entries), testing::ElementsAre("alloc", "annotate"));
  EXPECT_EQ(entries[1]["user_metadata"], "");
  EXPECT_FALSE(entries[1].contains("category"));
}

TEST(Snapshot, WritesEachModuleAsAFrame) {
  TraceMaker maker;
  maker.Segment(2 * kMiB, 0x10000000);
  maker.Alloc(512, 512, 0x10000000, Category::kActivation, "aten::mm", "model.layers.3.mlp.0");
  maker.Alloc(512, 512, 0x10000200, Category::kActivation, "aten::add", "model.layers.3.mlp.0");
  const json file = Export(*maker.Finish());
  const json& blocks = file["segments"][0]["blocks"];
  const json frames = {{{"name", "aten::mm"}, {"filename", "model.layers.3.mlp.0"}, {"line", 0}},
                       {{"name", "mlp.0"}, {"filename", "model.layers.3"}, {"line", 0}},
                       {{"name", "layers.3"}, {"filename", "model"}, {"line", 0}},
                       {{"name", "model"}, {"filename", ""}, {"line", 0}}};
  EXPECT_EQ(blocks[0]["frames"], frames);
  EXPECT_EQ(blocks[1]["frames"][0]["name"], "aten::add");
  EXPECT_EQ(blocks[1]["frames"][1], frames[1]);
}

// Blocks older than the recording are only in the segments, because they have no history entry.
TEST(Snapshot, WritesAnImportedTrace) {
  Events events;
  events.Add(EventKind::kSegmentAlloc, 0, 0x7f00'0000'0000, 2 * kMiB).stack.value = 1;
  events.Add(EventKind::kAlloc, 0, 0x7f00'0000'0000, 1000).category = Category::kParameter;
  events.list.back().detail = 7;
  events.list.back().stack.value = 1;
  events.Add(EventKind::kAlloc, 1, 0x7f00'0000'0400, 600).category = Category::kInput;
  events.list.back().detail = 7;
  events.Add(EventKind::kMarker, 0).name.value = 1;
  events.Add(EventKind::kStepBegin, 0).detail = 9;
  events.Add(EventKind::kAnnotationBegin, 0).name.value = 4;
  events.Add(EventKind::kAlloc, 2, 0x7f00'0000'0800, 512).stack.value = 2;
  events.Add(EventKind::kFreeRequested, 2).stack.value = 1;
  events.Add(EventKind::kFreeRequested, 1);
  events.Add(EventKind::kFreeCompleted, 1);
  events.Add(EventKind::kMarker, 0, 77, 88).name.value = 5;
  events.Add(EventKind::kAnnotationEnd, 0);
  events.Add(EventKind::kStepEnd, 0);
  trace::StackIncrement stacks;
  stacks.function = {{2}, {3}};
  stacks.file = {{3}, {2}};
  stacks.line = {10, 20};
  stacks.lengths = {2, 1};
  stacks.frames = {0, 1, 1};
  const auto trace = events.Build(
      Imported(), {"", std::string(trace::kMarkerRecordingBegin), "f", "g", "user", "snapshot"},
      stacks);
  const json file = Export(*trace);
  EXPECT_EQ(file["vramscope"]["inferred"], true);
  ASSERT_EQ(file["external_annotations"].size(), 2u) << "inferred steps are not written";
  EXPECT_EQ(file["external_annotations"][0]["name"], "user");

  const json frame_f = {{"name", "f"}, {"filename", "g"}, {"line", 10}};
  const json frame_g = {{"name", "g"}, {"filename", "f"}, {"line", 20}};
  const json& entries = file["device_traces"][0];
  EXPECT_THAT(Actions(entries), testing::ElementsAre("alloc", "free_requested", "free_requested",
                                                     "free_completed", "snapshot"));
  EXPECT_EQ(entries[0]["frames"], json::array({frame_g}));
  EXPECT_EQ(entries[1]["frames"], json::array({frame_f, frame_g}));
  EXPECT_EQ(entries[2]["category"], "input")
      << "the block has no alloc entry, so its free has the category";
  EXPECT_EQ(entries[4]["addr"], 77);
  EXPECT_EQ(entries[4]["size"], 88);
  EXPECT_EQ(entries[0]["time_us"], 1'700'000'000'000'006);

  ASSERT_EQ(file["segments"].size(), 1u);
  const json& segment = file["segments"][0];
  EXPECT_EQ(segment["frames"], json::array({frame_f, frame_g}));
  EXPECT_EQ(segment["allocated_size"], 1024);
  EXPECT_EQ(segment["active_size"], 1536);
  EXPECT_EQ(segment["requested_size"], 1512);
  EXPECT_EQ(segment["segment_type"], "small");
  EXPECT_EQ(segment["segment_pool_id"], json::array({0, 0}));
  ASSERT_EQ(segment["blocks"].size(), 4u);
  EXPECT_EQ(segment["blocks"][0], json({{"address", 0x7f00'0000'0000},
                                        {"size", 1024},
                                        {"requested_size", 1000},
                                        {"state", "active_allocated"},
                                        {"frames", {frame_f, frame_g}},
                                        {"category", "parameter"}}));
  EXPECT_EQ(segment["blocks"][1]["state"], "inactive");
  EXPECT_EQ(segment["blocks"][2]["state"], "active_pending_free");
  EXPECT_EQ(segment["blocks"][3]["size"], 2 * kMiB - 2048 - 512);
}

TEST(Snapshot, WritesMappedRangesOfExpandableSegments) {
  constexpr uint64_t kBase = 0x7f00'0000'0000;
  Events events;
  events.Add(EventKind::kSegmentAlloc, 0, kBase, 100 * kMiB).detail = 1;
  events.list.back().stream = 3;
  events.list.back().mempool = 2 << 16 | 5;
  events.Add(EventKind::kSegmentMap, 0, kBase, 20 * kMiB);
  events.Add(EventKind::kSegmentMap, 0, kBase + 20 * kMiB, 20 * kMiB);
  events.Add(EventKind::kSegmentMap, 0, kBase + 60 * kMiB, 4 * kMiB);
  events.Add(EventKind::kAlloc, 0, kBase + 2 * kMiB, 3 * kMiB).stream = 3;
  events.Add(EventKind::kSegmentUnmap, 0, kBase + 10 * kMiB, 2 * kMiB);
  const json file = Export(*events.Build(TraceMaker::PlanInfo()));
  EXPECT_THAT(
      Actions(file["device_traces"][0]),
      testing::ElementsAre("segment_map", "segment_map", "segment_map", "alloc", "segment_unmap"));
  ASSERT_EQ(file["segments"].size(), 3u);
  const uint64_t expected[3][2] = {{0, 10 * kMiB}, {12 * kMiB, 28 * kMiB}, {60 * kMiB, 4 * kMiB}};
  for (int i = 0; i < 3; ++i) {
    const json& s = file["segments"][i];
    EXPECT_EQ(s["address"], kBase + expected[i][0]);
    EXPECT_EQ(s["total_size"], expected[i][1]);
    EXPECT_EQ(s["is_expandable"], true);
    EXPECT_EQ(s["stream"], 3);
    EXPECT_EQ(s["segment_pool_id"], json::array({2, 5}));
  }
  EXPECT_EQ(file["segments"][0]["blocks"].size(), 3u);
}

TEST(Snapshot, WritesOneEntryListPerDevice) {
  Events events;
  for (uint8_t device = 0; device < 3; ++device) {
    if (device == 1) continue;
    events.Add(EventKind::kSegmentAlloc, device / 2, 0x1000'0000, 2 * kMiB).device = device;
    events.Add(EventKind::kAlloc, device / 2, 0x1000'0000, 512 * (device + 1)).device = device;
  }
  const json file = Export(*events.Build(TraceMaker::PlanInfo()));
  ASSERT_EQ(file["device_traces"].size(), 3u);
  EXPECT_EQ(file["device_traces"][0].size(), 2u);
  EXPECT_TRUE(file["device_traces"][1].empty());
  EXPECT_EQ(file["device_traces"][2][1]["size"], 1536);
  ASSERT_EQ(file["segments"].size(), 2u);
  EXPECT_EQ(file["segments"][1]["device"], 2);
}

// If a file has categories, it must have "unknown", too: MemoryViz.js fails without it.
TEST(Snapshot, CategoriesIncludeUnknown) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const json file = Export(*RandomTrace(seed, 300));
    std::set<std::string> categories;
    for (const json& entry : file["device_traces"][0])
      if (entry.contains("category")) categories.insert(entry["category"]);
    EXPECT_TRUE(categories.empty() || categories.contains("unknown")) << seed;
  }
}

// For any trace, blocks cover their segments without gaps, and each live block is there once.
TEST(Snapshot, BlocksCoverTheirSegments) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const auto trace = RandomTrace(seed, 400);
    uint64_t alive = 0;
    for (uint32_t a = 0; a < trace->allocations.size(); ++a)
      if (trace->allocations.free_event[a] == trace::kNoEvent)
        alive += trace->allocations.bytes_rounded[a];
    const json file = Export(*trace);
    uint64_t active = 0;
    for (const json& segment : file["segments"]) {
      uint64_t at = segment["address"];
      for (const json& block : segment["blocks"]) {
        EXPECT_EQ(block["address"], at);
        at += block["size"].get<uint64_t>();
      }
      EXPECT_EQ(at, segment["address"].get<uint64_t>() + segment["total_size"].get<uint64_t>());
      active += segment["active_size"].get<uint64_t>();
    }
    EXPECT_EQ(active, alive) << seed;
  }
}

TEST(Snapshot, WritesAllocatorSettings) {
  trace::TraceInfo info = TraceMaker::PlanInfo();
  info.alloc_conf =
      "max_split_size_mb:128,garbage_collection_threshold:0.5,expandable_segments:True";
  const json settings = Export(*TraceMaker(info).Finish())["allocator_settings"];
  EXPECT_EQ(settings["PYTORCH_CUDA_ALLOC_CONF"], info.alloc_conf);
  EXPECT_EQ(settings["max_split_size"], 128 * kMiB);
  EXPECT_EQ(settings["garbage_collection_threshold"], 0.5);
  EXPECT_EQ(settings["expandable_segments"], true);
  EXPECT_EQ(settings["roundup_power2_divisions"].size(), 16u);
}

TEST(Snapshot, KeepsUserMetadataAndCompileContext) {
  Events events;
  events.Add(EventKind::kSegmentAlloc, 0, 0x1000, 2 * kMiB);
  events.Add(EventKind::kAlloc, 0, 0x1000, 512).user_metadata = {1};
  events.Add(EventKind::kFreeRequested, 0).compile_context = {2};
  events.Add(EventKind::kFreeCompleted, 0);
  Event& annotate = events.Add(EventKind::kMarker, 0, 0x1000, 512);
  annotate.name = {3};
  annotate.user_metadata = {1};
  const json entries =
      Export(*events.Build(Imported(), {"", "layer 7", "1/0", "annotate"}))["device_traces"][0];
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[1]["user_metadata"], "layer 7");
  EXPECT_FALSE(entries[1].contains("compile_context"));
  EXPECT_EQ(entries[2]["compile_context"], "1/0");
  EXPECT_FALSE(entries[3].contains("user_metadata"));
  EXPECT_EQ(entries[4]["action"], "annotate");
  EXPECT_EQ(entries[4]["user_metadata"], "layer 7");
}

TEST(Snapshot, KeepsLineMinusOneOfGeneratedCode) {
  Events events;
  events.Add(EventKind::kSegmentAlloc, 0, 0x1000, 2 * kMiB);
  events.Add(EventKind::kAlloc, 0, 0x1000, 512).stack = {1};
  trace::StackIncrement stacks;
  stacks.function = {{1}};
  stacks.file = {{1}};
  stacks.line = {static_cast<uint32_t>(-1)};
  stacks.lengths = {1};
  stacks.frames = {0};
  const json file = Export(*events.Build(Imported(), {"", "forward"}, stacks));
  EXPECT_EQ(file["device_traces"][0][1]["frames"][0]["line"], -1);
}

TEST(Snapshot, OmitsUnknownTimesAndHistory) {
  Events events;
  events.Add(EventKind::kSegmentAlloc, 0, 0x1000, 2 * kMiB);
  events.Add(EventKind::kAlloc, 0, 0x1000, 512);
  trace::TraceInfo info = Imported();
  info.has_times = false;
  EXPECT_FALSE(Export(*events.Build(info))["device_traces"][0][1].contains("time_us"));
  info.content = trace::Content::kState;
  const json state = Export(*events.Build(info));
  EXPECT_EQ(state["device_traces"], json::array({json::array()}));
  EXPECT_EQ(state["segments"][0]["blocks"][0]["state"], "active_allocated");

  // Now there is one entry: the mark that PyTorch writes for the snapshot itself.
  events.Add(EventKind::kMarker, 0, 0, 0).name = {1};
  events.Add(EventKind::kMarker, 0, 0, 4096).name = {2};
  const json marked =
      Export(*events.Build(info, {"", std::string(trace::kMarkerRecordingBegin), "snapshot"}));
  ASSERT_EQ(marked["device_traces"][0].size(), 1u);
  EXPECT_EQ(marked["device_traces"][0][0]["action"], "snapshot");
  EXPECT_EQ(marked["device_traces"][0][0]["size"], 4096);
}

// In the imported file, the first entries had no time.
TEST(Snapshot, WritesNoNegativeTimes) {
  Events events;
  events.Add(EventKind::kSegmentAlloc, 0, 0x1000, 2 * kMiB);
  events.Add(EventKind::kAlloc, 0, 0x1000, 512);
  events.Add(EventKind::kFreeRequested, 0);
  trace::TraceInfo info = Imported();
  info.start_unix_ns = -1500;
  const json entries = Export(*events.Build(info))["device_traces"][0];
  EXPECT_EQ(entries[0]["time_us"], 0);
  EXPECT_EQ(entries[1]["time_us"], 1);
  EXPECT_EQ(entries[2]["time_us"], 2);
}

TEST(Snapshot, ReportsCancellationAndFullDisk) {
  const auto trace = SmallTrace();
  std::atomic<bool> cancel = true;
  std::ostringstream out;
  EXPECT_EQ(WriteSnapshot(*trace, out, {.cancel = &cancel}).code(), absl::StatusCode::kCancelled);
  std::ofstream full("/dev/full", std::ios::binary);
  if (!full) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(WriteSnapshot(*trace, full).code(), absl::StatusCode::kDataLoss);
}

TEST(Snapshot, ProgressEndsAtOne) {
  std::vector<double> fractions;
  std::ostringstream out;
  ASSERT_TRUE(WriteSnapshot(*RandomTrace(1, 40000), out, {.progress = [&](double f) {
                fractions.push_back(f);
              }}).ok());
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_GT(fractions.size(), 2u);
  EXPECT_EQ(fractions.back(), 1);
}

// A snapshot lists segments. Made-up segments around the blocks would become wrong figures of
// reserved memory.
TEST(Snapshot, RejectsBlocksWithoutSegments) {
  Events events;
  events.Add(EventKind::kAlloc, 0, 0x1000, 512);
  std::ostringstream out;
  const absl::Status status = WriteSnapshot(*events.Build(Imported()), out);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("reserved memory is not known"));
}

// The writer must refuse values that no reader would accept.
TEST(Snapshot, RejectsSizesBeyondAnyDevice) {
  trace::TraceBuilder b;
  trace::Event e;
  e.kind = trace::EventKind::kAlloc;
  e.bytes = e.bytes_rounded = (uint64_t{1} << 48) + 512;
  ASSERT_TRUE(b.AddEvents({{e}}).ok());
  std::ostringstream out;
  const absl::Status status = WriteSnapshot(*b.Finish(true, ""), out);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace vramscope::exporters
