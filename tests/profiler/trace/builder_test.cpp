// Tests which values TraceBuilder derives, and which events it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "profiler/trace/builder_sink.h"
#include "profiler/trace/trace.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Event Make(EventKind kind, int64_t time, uint64_t id = 0) {
  Event e;
  e.kind = kind;
  e.time_ns = time;
  e.id = id;
  return e;
}
Event Alloc(int64_t time, uint64_t id, uint64_t address, uint64_t bytes) {
  Event e = Make(EventKind::kAlloc, time, id);
  e.address = address;
  e.bytes = bytes;
  e.bytes_rounded = (bytes + 511) / 512 * 512;
  e.category = Category::kTemporary;
  return e;
}
Event Named(EventKind kind, int64_t time, uint32_t name, uint32_t thread = 0) {
  Event e = Make(kind, time);
  e.name = {name};
  e.thread = thread;
  return e;
}
Event PhaseEvent(EventKind kind, int64_t time, Phase phase) {
  Event e = Make(kind, time);
  e.detail = static_cast<uint8_t>(phase);
  return e;
}

struct Built {
  absl::Status status;
  std::shared_ptr<const Trace> trace;
};
Built Build(const std::vector<Event>& events) {
  TraceBuilder b;
  EXPECT_TRUE(b.AddStrings(0, std::vector<std::string>{"", "mm", "layer", "relu"}).ok());
  Built built;
  built.status = b.AddEvents(events);
  built.trace = b.Finish(true, "");
  return built;
}

TEST(TraceBuilder, MainCategoryIsTheOneHeldLongest) {
  const auto retag = [](int64_t time, uint64_t id, Category to) {
    Event e = Make(EventKind::kRetag, time, id);
    e.category = to;
    return e;
  };
  const Built b = Build({
      Alloc(0, 0, 0, 1),  // never retagged
      Alloc(0, 1, 0, 1),  // saved for backward, and a temporary again just before its free
      Alloc(0, 2, 0, 1),  // a gradient twice, in total longer than an activation in between
      Alloc(0, 3, 0, 1),  // alive at the end: the last category counts up to the end
      Alloc(0, 4, 0, 1),  // all at one time: the number of events decides
      Alloc(0, 5, 0, 1),  // an input for fewer events than a temporary
      retag(0, 4, Category::kGradient),
      retag(0, 5, Category::kInput),
      Make(EventKind::kFreeCompleted, 0, 5),
      Make(EventKind::kFreeCompleted, 0, 4),
      retag(10, 1, Category::kActivation),
      retag(10, 2, Category::kGradient),
      retag(15, 2, Category::kActivation),
      retag(22, 2, Category::kGradient),
      retag(40, 3, Category::kOptimizerState),
      retag(89, 1, Category::kTemporary),
      retag(90, 2, Category::kTemporary),
      Make(EventKind::kFreeCompleted, 90, 1),
      Make(EventKind::kFreeCompleted, 91, 2),
      Make(EventKind::kMarker, 100),
  });
  ASSERT_TRUE(b.status.ok()) << b.status;
  EXPECT_THAT(b.trace->allocations.main_category,
              ElementsAre(Category::kTemporary, Category::kActivation, Category::kGradient,
                          Category::kOptimizerState, Category::kGradient, Category::kTemporary));
}

TEST(TraceBuilder, DerivesTimesPhaseAndStepOfAllocations) {
  Event segment = Make(EventKind::kSegmentAlloc, 1, 0);
  segment.address = 0x10000;
  segment.bytes = 0x10000;
  Event retag = Make(EventKind::kRetag, 7, 0);
  retag.category = Category::kActivation;
  const Built b = Build(
      {segment, Alloc(2, 0, 0x10000, 1000), Make(EventKind::kStepBegin, 3, 5),
       Make(EventKind::kMicroBatchBegin, 3, 2),
       PhaseEvent(EventKind::kPhaseBegin, 4, Phase::kForward), Alloc(5, 1, 0x1F000, 600),
       Alloc(6, 2, 0x20000, 7), retag, Make(EventKind::kFreeRequested, 8, 1),
       Make(EventKind::kFreeCompleted, 9, 1), PhaseEvent(EventKind::kPhaseEnd, 10, Phase::kForward),
       Make(EventKind::kMicroBatchEnd, 11), Make(EventKind::kStepEnd, 12),
       Make(EventKind::kFreeCompleted, 13, 2)});
  ASSERT_TRUE(b.status.ok()) << b.status;
  const AllocationTable& a = b.trace->allocations;
  EXPECT_THAT(a.alloc_event, ElementsAre(1u, 5u, 6u));
  EXPECT_THAT(a.free_requested_event, ElementsAre(kNoEvent, 8u, 13u));
  EXPECT_THAT(a.free_event, ElementsAre(kNoEvent, 9u, 13u));
  EXPECT_THAT(a.begin_ns, ElementsAre(2, 5, 6));
  EXPECT_THAT(a.end_ns, ElementsAre(13, 9, 13));
  EXPECT_THAT(a.bytes_rounded, ElementsAre(1024u, 1024u, 512u));
  EXPECT_THAT(a.step, ElementsAre(-1, 5, 5));
  EXPECT_THAT(a.micro_batch, ElementsAre(-1, 2, 2));
  EXPECT_THAT(a.phase, ElementsAre(Phase::kNone, Phase::kForward, Phase::kForward));
  EXPECT_THAT(a.category,
              ElementsAre(Category::kActivation, Category::kTemporary, Category::kTemporary));
  EXPECT_THAT(a.birth_category,
              ElementsAre(Category::kTemporary, Category::kTemporary, Category::kTemporary));
  // The third block begins right after the end of the segment, so it is in none.
  EXPECT_THAT(a.segment, ElementsAre(SegmentId{0}, SegmentId{0}, SegmentId{}));
  EXPECT_THAT(b.trace->retags.from, ElementsAre(Category::kTemporary));
  EXPECT_THAT(b.trace->retags.to, ElementsAre(Category::kActivation));
}

TEST(TraceBuilder, FindsSegmentAmongLiveOnesOfTheDevice) {
  Event first = Make(EventKind::kSegmentAlloc, 1, 0), second = Make(EventKind::kSegmentAlloc, 1, 1);
  first.address = second.address = 4096;
  first.bytes = second.bytes = 4096;
  second.device = 1;
  Event on_second = Alloc(2, 0, 5000, 10);
  on_second.device = 1;
  Event again = Make(EventKind::kSegmentAlloc, 5, 2);
  again.address = 4096;
  again.bytes = 8192;
  const Built b =
      Build({first, second, on_second, Alloc(3, 1, 5000, 10), Make(EventKind::kSegmentFree, 4, 0),
             Alloc(4, 2, 5000, 10), again, Alloc(6, 3, 5000, 10)});
  ASSERT_TRUE(b.status.ok()) << b.status;
  EXPECT_THAT(b.trace->allocations.segment,
              ElementsAre(SegmentId{1}, SegmentId{0}, SegmentId{}, SegmentId{2}));
  EXPECT_THAT(b.trace->segments.free_event, ElementsAre(4u, kNoEvent, kNoEvent));
}

TEST(TraceBuilder, SlicesNestByKindAndThread) {
  const Built b = Build({Make(EventKind::kStepBegin, 0, 3), Named(EventKind::kModuleBegin, 1, 2, 1),
                         Named(EventKind::kOpBegin, 2, 1, 1), Named(EventKind::kOpBegin, 3, 3, 1),
                         Named(EventKind::kOpBegin, 4, 3, 2), Named(EventKind::kOpEnd, 5, 0, 1),
                         Named(EventKind::kOpEnd, 6, 0, 1), Named(EventKind::kModuleEnd, 7, 0, 1),
                         Make(EventKind::kStepEnd, 8)});
  ASSERT_TRUE(b.status.ok()) << b.status;
  const SliceTable& s = b.trace->slices;
  EXPECT_THAT(s.kind, ElementsAre(SliceKind::kStep, SliceKind::kModule, SliceKind::kOp,
                                  SliceKind::kOp, SliceKind::kOp));
  EXPECT_THAT(s.depth, ElementsAre(0u, 0u, 0u, 1u, 0u));
  EXPECT_THAT(s.begin_ns, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(s.end_ns, ElementsAre(8, 7, 6, 5, 8));  // the last one was never closed
  EXPECT_THAT(s.end_event, ElementsAre(8u, 7u, 6u, 5u, kNoEvent));
  EXPECT_THAT(s.step, ElementsAre(3, 3, 3, 3, 3));
  // End events must have the fields of the begin events that they close.
  EXPECT_EQ(b.trace->events.name[5], StringId{3});
  EXPECT_EQ(b.trace->events.name[6], StringId{1});
  EXPECT_EQ(b.trace->events.id[8], 3u);
}

TEST(TraceBuilder, ClearsFieldsThatAKindDoesNotHave) {
  Event free = Make(EventKind::kFreeCompleted, 2, 0);
  free.bytes = 99;
  free.name = {77};  // an invalid string id, which is not read
  const Built b = Build({Alloc(1, 0, 0, 1), free});
  ASSERT_TRUE(b.status.ok()) << b.status;
  EXPECT_THAT(b.trace->events.bytes, ElementsAre(1u, 0u));
  EXPECT_THAT(b.trace->events.name, ElementsAre(StringId{}, StringId{}));
}

TEST(TraceBuilder, StoresMarkersAndOtherEvents) {
  Event usage = Named(EventKind::kDeviceUsage, 2, 3);
  usage.stream = 7;
  const Built b = Build({Named(EventKind::kMarker, 1, 2), usage});
  ASSERT_EQ(b.trace->markers.size(), 1u);
  EXPECT_EQ(b.trace->String(b.trace->markers[0].name), "layer");
  EXPECT_THAT(b.trace->other_events.event, ElementsAre(0u, 1u));
  EXPECT_THAT(b.trace->other_events.stream, ElementsAre(0u, 7u));
}

struct Refusal {
  const char* name;
  std::vector<Event> events;
  const char* message;
};
void PrintTo(const Refusal& r, std::ostream* out) { *out << r.name; }

class TraceBuilderErrors : public ::testing::TestWithParam<Refusal> {};

TEST_P(TraceBuilderErrors, NameTheEventAndKeepEarlierEvents) {
  const Built b = Build(GetParam().events);
  ASSERT_EQ(b.status.code(), absl::StatusCode::kDataLoss) << b.status;
  const size_t last = GetParam().events.size() - 1;
  EXPECT_THAT(std::string(b.status.message()), HasSubstr("event " + std::to_string(last) + " ("));
  EXPECT_THAT(std::string(b.status.message()), HasSubstr(GetParam().message));
  EXPECT_EQ(b.trace->events.size(), last);
  EXPECT_EQ(b.trace->events.time_ns.size(), last);
}

Event BadCategory() {
  Event e = Alloc(1, 0, 0, 1);
  e.category = static_cast<Category>(kCategoryCount);
  return e;
}
Event BadPool() {
  Event e = Alloc(1, 0, 0, 1);
  e.pool = static_cast<Pool>(2);
  return e;
}
Event BadRetag() {
  Event e = Make(EventKind::kRetag, 2, 0);
  e.category = static_cast<Category>(200);
  return e;
}

INSTANTIATE_TEST_SUITE_P(
    Malformed, TraceBuilderErrors,
    ::testing::Values(
        Refusal{"id_skipped", {Alloc(1, 1, 0, 1)}, "id 1 instead of 0"},
        Refusal{"id_repeated", {Alloc(1, 0, 0, 1), Alloc(2, 0, 0, 1)}, "id 0 instead of 1"},
        Refusal{"free_unknown",
                {Make(EventKind::kFreeCompleted, 1, 0)},
                "allocation 0, but there are only 0 allocations"},
        Refusal{"free_dead",
                {Alloc(1, 0, 0, 1), Make(EventKind::kFreeCompleted, 2, 0),
                 Make(EventKind::kFreeCompleted, 3, 0)},
                "already freed"},
        Refusal{"free_requested_twice",
                {Alloc(1, 0, 0, 1), Make(EventKind::kFreeRequested, 2, 0),
                 Make(EventKind::kFreeRequested, 3, 0)},
                "already freed"},
        Refusal{"retag_dead",
                {Alloc(1, 0, 0, 1), Make(EventKind::kFreeCompleted, 2, 0),
                 Make(EventKind::kRetag, 3, 0)},
                "not live"},
        Refusal{"retag_category", {Alloc(1, 0, 0, 1), BadRetag()}, "category 200"},
        Refusal{"alloc_category", {BadCategory()}, "category 12"},
        Refusal{"alloc_pool", {BadPool()}, "pool 2"},
        Refusal{"time_backwards", {Alloc(5, 0, 0, 1), Alloc(4, 1, 0, 1)}, "4 ns after 5 ns"},
        Refusal{"string", {Named(EventKind::kMarker, 1, 4)}, "string 4 of 4"},
        Refusal{"segment_id", {Make(EventKind::kSegmentAlloc, 1, 3)}, "id 3 instead of 0"},
        Refusal{"segment_dead", {Make(EventKind::kSegmentFree, 1, 0)}, "not live"},
        Refusal{"phase",
                {PhaseEvent(EventKind::kPhaseBegin, 1, static_cast<Phase>(kPhaseCount))},
                "phase 12"},
        Refusal{"step_number", {Make(EventKind::kStepBegin, 1, uint64_t{1} << 31)}, "number"},
        Refusal{"end_alone", {Make(EventKind::kStepEnd, 1)}, "did not begin"},
        Refusal{"end_other_thread",
                {Named(EventKind::kOpBegin, 1, 1, 0), Named(EventKind::kOpEnd, 2, 1, 1)},
                "did not begin"},
        Refusal{"kind", {Make(static_cast<EventKind>(99), 1)}, "unknown kind 99"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TraceBuilder, RejectsGapsInStringIds) {
  TraceBuilder b;
  const std::vector<std::string> one = {"a"};
  EXPECT_TRUE(b.AddStrings(1, one).ok());
  EXPECT_FALSE(b.AddStrings(1, one).ok());
  EXPECT_FALSE(b.AddStrings(3, one).ok());
  EXPECT_TRUE(b.AddStrings(2, one).ok());
  TraceBuilder c;
  EXPECT_FALSE(c.AddStrings(0, one).ok());  // id 0 is ""
}

TEST(TraceBuilder, SnapshotIsPrefixOfTheWhole) {
  const testing::Stream s = testing::RandomStream(5, 3000);
  TraceBuilder b;
  b.SetInfo(s.info);
  ASSERT_TRUE(b.AddStrings(0, s.strings).ok());
  StackIncrement stacks;
  stacks.function = s.stacks.function;
  stacks.file = s.stacks.file;
  stacks.line = s.stacks.line;
  stacks.frames = s.stacks.frames;
  for (uint32_t i = 1; i < s.stacks.size(); ++i)
    stacks.lengths.push_back(s.stacks.first[i + 1] - s.stacks.first[i]);
  ASSERT_TRUE(b.AddStacks(stacks).ok());
  ASSERT_TRUE(b.AddEvents(std::span(s.events).first(1000)).ok());
  const auto early = b.Snapshot();
  ASSERT_TRUE(b.AddEvents(std::span(s.events).subspan(1000)).ok());
  const auto whole = b.Finish(true, "");
  EXPECT_EQ(early->events.size(), 1000u);
  EXPECT_FALSE(early->complete);
  EXPECT_EQ(testing::PrefixDifference(*early, *whole), "");
  for (uint32_t i = 0; i < early->allocations.size(); ++i)
    if (early->allocations.free_event[i] == kNoEvent) {
      EXPECT_EQ(early->allocations.end_ns[i], early->end_ns());
    }
}

// A snapshot must equal what a separate builder makes of the same events. It must never change,
// even if the caller keeps many snapshots.
TEST(TraceBuilder, SnapshotsEqualSeparateBuilderAndStayUnchanged) {
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    testing::Stream s = testing::RandomStream(seed, 1500);
    std::mt19937_64 random(seed);
    if (seed % 2 == 0) {  // activities arrive late, but not by much
      std::vector<Activity>& a = s.activities;
      std::stable_sort(a.begin(), a.end(),
                       [](const auto& x, const auto& y) { return x.begin_ns < y.begin_ns; });
      for (size_t i = 8; i < a.size(); ++i) std::swap(a[i], a[i - random() % 8]);
    }
    StackIncrement stacks;
    stacks.function = s.stacks.function;
    stacks.file = s.stacks.file;
    stacks.line = s.stacks.line;
    stacks.frames = s.stacks.frames;
    for (uint32_t i = 1; i < s.stacks.size(); ++i)
      stacks.lengths.push_back(s.stacks.first[i + 1] - s.stacks.first[i]);
    TraceBuilder one;
    const auto begin = [&](TraceBuilder& b) {
      b.SetInfo(s.info);
      ASSERT_TRUE(b.AddStrings(0, s.strings).ok());
      ASSERT_TRUE(b.AddStacks(stacks).ok());
    };
    begin(one);
    struct Kept {
      std::shared_ptr<const Trace> trace;
      std::shared_ptr<const Trace> own;  // a separately built trace
    };
    std::vector<Kept> kept;
    size_t events = 0, activities = 0;
    while (events < s.events.size()) {
      const size_t more = std::min<size_t>(random() % 200, s.events.size() - events);
      const size_t late = std::min<size_t>(random() % 60, s.activities.size() - activities);
      ASSERT_TRUE(one.AddEvents(std::span(s.events).subspan(events, more)).ok());
      ASSERT_TRUE(one.AddActivities(std::span(s.activities).subspan(activities, late)).ok());
      events += more;
      activities += late;
      if (random() % 3 == 0) continue;
      const auto now = one.Snapshot();
      TraceBuilder own;
      begin(own);
      ASSERT_TRUE(own.AddEvents(std::span(s.events).first(events)).ok());
      ASSERT_TRUE(own.AddActivities(std::span(s.activities).first(activities)).ok());
      kept.push_back({now, own.Finish(false, "")});
      ASSERT_EQ(testing::Difference(*now, *kept.back().own), "") << "seed " << seed;
      while (kept.size() > random() % 5) kept.erase(kept.begin() + random() % kept.size());
    }
    for (const Kept& k : kept) ASSERT_EQ(testing::Difference(*k.trace, *k.own), "");
    const auto all = one.Finish(true, "");
    for (const Kept& k : kept) ASSERT_EQ(testing::PrefixDifference(*k.trace, *all), "");
  }
}

TEST(TraceBuilder, SortsActivitiesByBegin) {
  TraceBuilder b;
  ASSERT_TRUE(b.AddStrings(0, std::vector<std::string>{"", "gemm", "copy"}).ok());
  const auto kernel = [](int64_t begin, int64_t end, uint64_t correlation) {
    return Activity{.name = {1}, .correlation = correlation, .begin_ns = begin, .end_ns = end};
  };
  ASSERT_TRUE(b.AddActivities(std::vector<Activity>{kernel(20, 30, 1), kernel(40, 41, 2)}).ok());
  EXPECT_EQ(b.Snapshot()->activities.size(), 2u);
  ASSERT_TRUE(b.AddActivities(std::vector<Activity>{kernel(10, 50, 3), kernel(20, 20, 4)}).ok());
  EXPECT_THAT(b.AddActivities(std::vector<Activity>{kernel(5, 4, 5)}).message(),
              HasSubstr("kernel begins at 5 ns, but ends at 4 ns"));
  Activity unnamed = kernel(1, 2, 6);
  unnamed.op = {3};
  EXPECT_EQ(b.AddActivities(std::vector<Activity>{unnamed}).code(), absl::StatusCode::kDataLoss);
  const auto trace = b.Finish(true, "");
  EXPECT_THAT(trace->activities.begin_ns, ElementsAre(10, 20, 20, 40));
  EXPECT_THAT(trace->activities.correlation, ElementsAre(3u, 1u, 4u, 2u));
  EXPECT_EQ(trace->activities.Row(1).end_ns, 30);
}

TEST(BuilderSink, KeepsTheFirstError) {
  BuilderSink sink;
  sink.Begin({});
  sink.Events(std::vector<Event>{Alloc(1, 0, 0, 1), Alloc(2, 7, 0, 1)});
  sink.Events(std::vector<Event>{Alloc(3, 1, 0, 1)});
  sink.End(true, "");
  EXPECT_EQ(sink.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(sink.Trace()->complete);
  EXPECT_EQ(sink.Trace()->events.size(), 1u);
}

}  // namespace
}  // namespace vramscope::trace
