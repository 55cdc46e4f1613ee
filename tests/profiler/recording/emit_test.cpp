// Compares all events that Emit() creates for small recordings.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/recording/recording.h"
#include "profiler/trace/builder_sink.h"
#include "tests/profiler/recording/hand_made.h"

namespace vramscope::recording {
namespace {

using trace::Category;
using trace::EventKind;

constexpr uint64_t kBase = 0x7f0000000000;

// A sink that lists the events that arrive, and also builds the trace.
class ListSink : public trace::BuilderSink {
 public:
  void Events(std::span<const trace::Event> events) override {
    all.insert(all.end(), events.begin(), events.end());
    BuilderSink::Events(events);
  }
  std::vector<trace::Event> all;
};

std::string Line(const trace::Event& e, const trace::Trace& t) {
  std::string line = fmt::format("{} {}", e.time_ns, trace::Name(e.kind));
  switch (e.kind) {
    case EventKind::kAlloc:
      line += fmt::format(" #{} {}/{} {} rule {} op {}", e.id, e.bytes, e.bytes_rounded,
                          trace::Name(e.category), e.detail, t.String(e.name));
      break;
    case EventKind::kFreeRequested:
    case EventKind::kFreeCompleted:
    case EventKind::kSegmentFree:
      line += fmt::format(" #{}", e.id);
      break;
    case EventKind::kRetag:
      line += fmt::format(" #{} {} rule {}", e.id, trace::Name(e.category), e.detail);
      break;
    case EventKind::kSegmentAlloc:
    case EventKind::kSegmentMap:
      line += fmt::format(" #{} +{} {} pool {}", e.id, (e.address - kBase) / kMiB, e.bytes / kMiB,
                          static_cast<int>(e.pool));
      break;
    case EventKind::kOutOfMemory:
      line += fmt::format(" {} free {}", e.bytes, e.bytes_rounded);
      break;
    case EventKind::kMarker:
    case EventKind::kAnnotationBegin:
    case EventKind::kOpBegin:
      line += fmt::format(" {}", t.String(e.name));
      if (e.thread != 0) line += fmt::format(" thread {}", e.thread);
      break;
    case EventKind::kAnnotationEnd:
    case EventKind::kOpEnd:
      if (e.thread != 0) line += fmt::format(" thread {}", e.thread);
      break;
    case EventKind::kStepBegin:
      line += fmt::format(" {} rule {}", e.id, e.detail);
      break;
    case EventKind::kPhaseBegin:
      line += fmt::format(" {} rule {}", e.detail, e.id);
      break;
    default:
      break;
  }
  if (e.stack.value != 0) line += fmt::format(" @{}", e.stack.value);
  return line;
}

std::vector<std::string> Lines(const Recording& r, const Labels* labels = nullptr) {
  const absl::StatusOr<History> h = Reconstruct(r);
  EXPECT_TRUE(h.ok());
  ListSink sink;
  Emit(r, *h, labels != nullptr ? *labels : NoLabels(*h), sink);
  EXPECT_TRUE(sink.status().ok()) << sink.status();
  EXPECT_TRUE(sink.Trace()->complete);
  std::vector<std::string> lines;
  for (const trace::Event& e : sink.all) lines.push_back(Line(e, *sink.Trace()));
  return lines;
}

using Expected = std::vector<std::string>;

TEST(Emit, EmitsOlderBlocksThenEntriesWithLabels) {
  Recording r;
  r.source = "hand-made";
  r.alloc_conf = "expandable_segments:False";
  r.start_unix_ns = 5;
  r.has_segments = true;
  r.strings = {"", "f", "a.py"};
  r.stacks.function = {{1}};
  r.stacks.file = {{2}};
  r.stacks.line = {3};
  r.stacks.first = {0, 0, 1};
  r.stacks.frames = {0};
  Add(r, Action::kFreeRequested, kBase, 1000, 100);
  Add(r, Action::kFreeCompleted, kBase, 1000, 110);
  Add(r, Action::kSegmentAlloc, kBase + 4 * kMiB, 20 * kMiB, 120, 1);
  Add(r, Action::kAlloc, kBase + 4 * kMiB, 3 * kMiB, 130, 1);
  Add(r, Action::kSnapshot, 0, 0, 140);
  Add(r, Action::kOutOfMemory, 77, 9000, 150, 1);
  Add(r, Action::kFreeCompleted, kBase + kMiB, 1, 160);  // its alloc is missing
  Add(r, Action::kFreeCompleted, kBase + kMiB, 1, 170);
  Add(r, Action::kOther, 1, 2, 180);
  r.segments = {
      {.address = kBase, .bytes = 2 * kMiB, .blocks = {Live(kBase + 1024, 512, 300)}},
      LargeSegment(kBase + 4 * kMiB, 20 * kMiB, {Live(kBase + 4 * kMiB, 3 * kMiB, 3 * kMiB)})};
  r.segments[0].blocks[0].use = BlockUse::kPendingFree;

  const History h = *Reconstruct(r);
  Labels labels = NoLabels(h);
  ASSERT_EQ(h.allocations.size(), 4u);
  labels.category[1] = Category::kGradient;
  labels.rule[1] = 9;
  labels.strings = {"aten::mm"};
  labels.op[3] = {3};
  labels.retags = {{.at = 3, .allocation = 1, .category = Category::kParameter, .rule = 4}};
  labels.steps = {{.begin = 0, .end = 4, .number = 0, .rule = 2},
                  {.begin = 4, .end = 6, .number = 1, .rule = 2},
                  {.begin = 8, .end = 9, .number = 2, .rule = 2}};
  labels.phases = {{.begin = 1, .end = 3, .phase = trace::Phase::kForward, .rule = 6},
                   {.begin = 3, .end = 4, .phase = trace::Phase::kBackward}};
  EXPECT_EQ(Lines(r, &labels), (Expected{
                                   "100 segment_alloc #0 +0 2 pool 0",
                                   "100 alloc #0 1000/1024 Unknown rule 0 op ",
                                   "100 alloc #1 300/512 Gradient rule 9 op ",
                                   "100 alloc #2 1/512 Unknown rule 0 op ",
                                   "100 free_requested #1",
                                   "100 free_requested #2",
                                   "100 marker recording_begin",
                                   "100 step_begin 0 rule 2",
                                   "100 free_requested #0",
                                   "110 phase_begin 3 rule 6",
                                   "110 free_completed #0",
                                   "120 segment_alloc #1 +4 20 pool 1 @1",
                                   "130 phase_end",
                                   "130 phase_begin 5 rule 0",
                                   "130 retag #1 Parameter rule 4",
                                   "130 alloc #3 3145728/3145728 Unknown rule 0 op aten::mm @1",
                                   "130 phase_end",
                                   "140 step_end",
                                   "140 step_begin 1 rule 2",
                                   "140 marker snapshot",
                                   "150 out_of_memory 9000 free 77 @1",
                                   "150 step_end",
                                   "160 marker left out: free_completed",
                                   "170 free_completed #2",
                                   "180 step_begin 2 rule 2",
                                   "180 marker other entry",
                                   "180 step_end",
                               }));
}

// A file may state a category when a block is allocated, right after that, or at a later
// time.
TEST(Emit, UsesCategoriesStatedByTheFile) {
  Recording r;
  Add(r, Action::kAlloc, kBase, 512, 100);
  Add(r, Action::kCategory, kBase, 512, 100);  // category at allocation
  Add(r, Action::kAlloc, kBase + 512, 512, 110);
  Add(r, Action::kAlloc, kBase + 1024, 512, 120);
  Add(r, Action::kCategory, kBase, 512, 130);         // category later
  Add(r, Action::kCategory, kBase + 4096, 512, 140);  // no block there
  Add(r, Action::kAnnotate, kBase, 512, 150);
  Add(r, Action::kFreeCompleted, kBase + 512, 512, 160);
  Add(r, Action::kCategory, kBase + 512, 512, 170);  // freed
  r.entries.recorded_category.assign(r.entries.size(), Category::kUnknown);
  r.entries.recorded_category[0] = Category::kGradient;  // block #0 has it for the longest time
  r.entries.recorded_category[1] = Category::kTemporary;
  r.entries.recorded_category[2] = Category::kInput;
  r.entries.recorded_category[4] = r.entries.recorded_category[5] = r.entries.recorded_category[8] =
      Category::kGradient;

  const History h = *Reconstruct(r);
  Labels labels = NoLabels(h);
  labels.category[2] = Category::kWorkspace;
  labels.rule[0] = labels.rule[2] = 9;
  labels.retags = {{.at = 2, .allocation = 0, .category = Category::kParameter, .rule = 4},
                   {.at = 7, .allocation = 2, .category = Category::kParameter, .rule = 4}};
  ApplyRecordedLabels(r, h, labels);
  EXPECT_EQ(Lines(r, &labels), (Expected{
                                   "100 marker recording_begin",
                                   "100 alloc #0 512/512 Temporary rule 0 op ",
                                   "110 alloc #1 512/512 Input rule 0 op ",
                                   "120 alloc #2 512/512 Workspace rule 9 op ",
                                   "130 retag #0 Gradient rule 0",
                                   "150 marker annotate",
                                   "160 retag #2 Parameter rule 4",
                                   "160 free_completed #1",
                               }));
}

// If the file states a category for every block, a block whose category is "unknown" keeps it.
TEST(Emit, KeepsUnknownIfTheFileLabelsEveryBlock) {
  Recording r;
  r.labels_are_complete = true;
  Add(r, Action::kCategory, kBase, 512, 100);  // older: its category when the recording began
  Add(r, Action::kAlloc, kBase + 512, 512, 110);
  Add(r, Action::kCategory, kBase + 512, 512, 110);  // category at allocation
  Add(r, Action::kAlloc, kBase + 1024, 512, 120);
  Add(r, Action::kCategory, kBase, 512, 130);
  Add(r, Action::kFreeCompleted, kBase, 512, 140);
  r.entries.recorded_category = {Category::kInput,   Category::kGradient, Category::kUnknown,
                                 Category::kUnknown, Category::kUnknown,  Category::kWorkspace};

  const History h = *Reconstruct(r);
  ASSERT_EQ(h.older, 1u);
  Labels labels = NoLabels(h);
  labels.category.assign(3, Category::kActivation);
  labels.rule.assign(3, 9);
  labels.retags = {{.at = 5, .allocation = 2, .category = Category::kParameter, .rule = 4}};
  ApplyRecordedLabels(r, h, labels);
  EXPECT_THAT(labels.category,
              testing::ElementsAre(Category::kInput, Category::kUnknown, Category::kUnknown));
  EXPECT_THAT(labels.rule, testing::ElementsAre(0, 0, 0));
  ASSERT_EQ(labels.retags.size(), 1u);
  EXPECT_EQ(labels.retags[0].allocation, 0u);
  EXPECT_EQ(labels.retags[0].at, 4u);
  EXPECT_EQ(labels.retags[0].category, Category::kUnknown);
}

TEST(Emit, OverlappingAnnotationsGetSeparateThreads) {
  Recording r;
  r.strings = {"", "outer", "inner", "across", "instant"};
  Add(r, Action::kAlloc, kBase, 512, 100);
  Add(r, Action::kAlloc, kBase + 512, 512, 300);
  r.annotations = {{.name = {1}, .begin_ns = 50, .end_ns = 400},
                   {.name = {2}, .begin_ns = 100, .end_ns = 200},
                   {.name = {3}, .begin_ns = 150, .end_ns = 350},
                   {.name = {4}, .begin_ns = 200, .end_ns = 200, .device = 1}};
  EXPECT_EQ(Lines(r), (Expected{
                          "50 marker recording_begin",
                          "50 annotation_begin outer",
                          "100 annotation_begin inner",
                          "100 alloc #0 512/512 Unknown rule 0 op ",
                          "150 annotation_begin across thread 1",
                          "200 annotation_end",
                          "200 annotation_begin instant thread 256",
                          "200 annotation_end thread 256",
                          "300 alloc #1 512/512 Unknown rule 0 op ",
                          "350 annotation_end thread 1",
                          "400 annotation_end",
                      }));
}

TEST(Emit, MergesExtraEventsOfTheFile) {
  Recording r;
  r.strings = {"", "aten::add"};
  Add(r, Action::kAlloc, kBase, 512, 100);
  const auto extra = [&](EventKind kind, int64_t time_ns, uint32_t name) {
    trace::Event e;
    e.kind = kind;
    e.time_ns = time_ns;
    e.thread = 7;
    e.name = {name};
    r.extras.push_back(e);
  };
  extra(EventKind::kOpEnd, 90, 0);  // began before the recording
  extra(EventKind::kOpBegin, 95, 1);
  extra(EventKind::kOpEnd, 120, 0);
  extra(EventKind::kAlloc, 130, 0);  // ignored: allocations are taken from the entries
  EXPECT_EQ(Lines(r), (Expected{
                          "90 marker recording_begin",
                          "95 op_begin aten::add thread 7",
                          "100 alloc #0 512/512 Unknown rule 0 op ",
                          "120 op_end thread 7",
                      }));
}

TEST(Emit, TraceBeginsWithTheFirstActivity) {
  Recording r;
  r.strings = {"", "gemm"};
  Add(r, Action::kAlloc, kBase, 512, 100);
  for (const int64_t begin : {150, 80})
    r.activities.push_back({.name = {1}, .begin_ns = begin, .end_ns = begin + 5});
  const auto history = Reconstruct(r);
  ASSERT_TRUE(history.ok());
  trace::BuilderSink sink;
  Labels labels;
  labels.category.resize(history->allocations.size());
  labels.rule.resize(history->allocations.size());
  labels.op.resize(history->allocations.size());
  labels.module.resize(history->allocations.size());
  Emit(r, *history, labels, sink);
  ASSERT_TRUE(sink.status().ok()) << sink.status();
  EXPECT_EQ(sink.Trace()->begin_ns(), 80);
  EXPECT_EQ(sink.Trace()->events.time_ns.front(), 80);  // the marker of the recording's begin
  EXPECT_THAT(sink.Trace()->activities.begin_ns, testing::ElementsAre(80, 150));
}

TEST(Emit, MapsExpandableSegmentsInPieces) {
  Recording r;
  r.has_segments = true;
  Add(r, Action::kSegmentMap, kBase + 6 * kMiB, 2 * kMiB, 10);
  Add(r, Action::kSegmentUnmap, kBase, 2 * kMiB, 20);
  r.segments = {{.address = kBase + 4 * kMiB,
                 .bytes = 4 * kMiB,
                 .expandable = true,
                 .blocks = {Live(kBase + 4 * kMiB, 512, 512),
                            {.address = kBase + 4 * kMiB + 512, .bytes = 4 * kMiB - 512}}}};
  EXPECT_EQ(Lines(r), (Expected{
                          "10 segment_alloc #0 +0 8 pool 0",
                          "10 segment_map #0 +0 2 pool 0",
                          "10 segment_map #0 +4 2 pool 0",
                          "10 alloc #0 512/512 Unknown rule 0 op ",
                          "10 marker recording_begin",
                          "10 segment_map #0 +6 2 pool 0",
                          "20 segment_unmap",
                      }));
}

TEST(Emit, KeepsStreamNumbersThatFit) {
  for (const uint64_t other : {uint64_t{7}, uint64_t{0x55d011112222}}) {
    Recording r;
    r.streams = {0, other};
    Add(r, Action::kAlloc, kBase, 512, 1);
    r.entries.stream[0] = 1;
    const History h = *Reconstruct(r);
    trace::BuilderSink sink;
    Emit(r, h, NoLabels(h), sink);
    EXPECT_EQ(sink.Trace()->allocations.stream[0], other == 7 ? 7u : 1u);
  }
}

TEST(Emit, TraceInfoNamesItsSource) {
  Recording r;
  r.source = "hand-made";
  r.alloc_conf = "max_split_size_mb:64";
  r.start_unix_ns = 5;
  const History h = *Reconstruct(r);
  trace::BuilderSink sink;
  Emit(r, h, NoLabels(h), sink);
  const trace::TraceInfo& info = sink.Trace()->info;
  EXPECT_EQ(info.backend, trace::Backend::kImported);
  EXPECT_TRUE(info.measured);
  EXPECT_FALSE(info.has_config);
  EXPECT_EQ(info.source, "hand-made");
  EXPECT_EQ(info.alloc_conf, "max_split_size_mb:64");
  EXPECT_EQ(info.start_unix_ns, 5);
  EXPECT_EQ(info.device.memory_bytes, 0u);
  EXPECT_EQ(sink.Trace()->events.size(), 1u);  // the marker
}

}  // namespace
}  // namespace vramscope::recording
