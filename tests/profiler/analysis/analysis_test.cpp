#include "profiler/analysis/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profiler/analysis/grouping.h"
#include "profiler/analysis/outside_steps.h"

namespace vramscope::analysis {
namespace {

using ::testing::HasSubstr;
using trace::Category;
using trace::Event;
using trace::EventKind;
using trace::Phase;

constexpr int64_t kMs = 1'000'000;

// Builds a trace. Each event is 1 ms after the one before, unless At() sets another time.
class Script {
 public:
  Script() { info_.device.memory_bytes = 0; }
  Script& At(int64_t ms) {
    next_ms_ = ms;
    return *this;
  }
  Script& Phase(trace::Phase p) { return Add(EventKind::kPhaseBegin, 0, static_cast<uint8_t>(p)); }
  Script& EndPhase() { return Add(EventKind::kPhaseEnd); }
  Script& Step(uint64_t n) { return Add(EventKind::kStepBegin, n); }
  Script& EndStep() { return Add(EventKind::kStepEnd); }
  Script& Segment(uint64_t bytes) {
    Event e = Make(EventKind::kSegmentAlloc);
    e.id = segments_++;
    e.bytes = bytes;
    e.address = 1 << 20;
    return Push(e);
  }
  Script& Alloc(uint64_t bytes, Category c, uint32_t op = 0, uint32_t module = 0) {
    Event e = Make(EventKind::kAlloc);
    e.id = allocations_++;
    e.bytes = bytes;
    e.bytes_rounded = (bytes + 511) / 512 * 512;
    e.address = (1 << 20) + e.id * 4096;
    e.category = c;
    e.name = {op};
    e.module = {module};
    return Push(e);
  }
  Script& Free(uint64_t id) { return Add(EventKind::kFreeCompleted, id); }
  Script& Retag(uint64_t id, Category c) {
    Event e = Make(EventKind::kRetag);
    e.id = id;
    e.category = c;
    return Push(e);
  }
  Script& Marker(uint32_t name) {
    Event e = Make(EventKind::kMarker);
    e.name = {name};
    return Push(e);
  }
  Script& Add(EventKind kind, uint64_t id = 0, uint8_t detail = 0) {
    Event e = Make(kind);
    e.id = id;
    e.detail = detail;
    return Push(e);
  }
  Script& Device(uint64_t memory, uint64_t context) {
    info_.device.memory_bytes = memory;
    info_.device.context_bytes = context;
    return *this;
  }
  std::shared_ptr<const trace::Trace> Build() {
    trace::TraceBuilder b;
    b.SetInfo(info_);
    const std::string names[] = {"", "mm", "layer.0", std::string(trace::kMarkerTrainingBegin),
                                 std::string(trace::kMarkerTrainingEnd)};
    EXPECT_TRUE(b.AddStrings(0, names).ok());
    const absl::Status s = b.AddEvents(events_);
    EXPECT_TRUE(s.ok()) << s;
    return b.Finish(true, "");
  }

 private:
  Event Make(EventKind kind) {
    Event e;
    e.kind = kind;
    e.time_ns = next_ms_ * kMs;
    return e;
  }
  Script& Push(const Event& e) {
    events_.push_back(e);
    ++next_ms_;
    return *this;
  }
  trace::TraceInfo info_;
  std::vector<Event> events_;
  int64_t next_ms_ = 0;
  uint64_t allocations_ = 0, segments_ = 0;
};

constexpr uint32_t kOp = 1, kModule = 2, kBegin = 3, kEnd = 4;

TEST(Analysis, EmptyTraceHasEmptyResults) {
  const auto t = Script().Build();
  const MemoryCurves curves = ComputeCurves(*t);
  EXPECT_EQ(curves.size(), 0u);
  EXPECT_EQ(LiveAt(*t, 7).allocated, 0u);
  EXPECT_EQ(EventAtTime(*t, 5), 0u);
  EXPECT_EQ(FindPeak(*t, curves).allocated, 0u);
  EXPECT_TRUE(StepTable(*t, curves).empty());
  EXPECT_TRUE(PhaseTotals(*t, curves).empty());
  const Summary s = Summarize(*t, curves);
  EXPECT_TRUE(s.fits);
  EXPECT_EQ(s.events, 0u);
}

TEST(Analysis, CurvesHaveColumnsOnlyForUsedCategories) {
  const auto t = Script().Alloc(100, Category::kInput).Retag(0, Category::kActivation).Build();
  const MemoryCurves c = ComputeCurves(*t);
  EXPECT_THAT(c.category[static_cast<int>(Category::kInput)], ::testing::ElementsAre(512u, 0u));
  EXPECT_THAT(c.category[static_cast<int>(Category::kActivation)],
              ::testing::ElementsAre(0u, 512u));
  EXPECT_TRUE(c.category[static_cast<int>(Category::kGradient)].empty());
}

TEST(Analysis, LiveSetHasCategoriesAsOfTheEvent) {
  const auto t = Script()
                     .Alloc(100, Category::kTemporary, kOp, kModule)
                     .Alloc(5000, Category::kParameter)
                     .Retag(0, Category::kActivation)
                     .Free(0)
                     .Build();
  EXPECT_EQ(LiveAt(*t, 1).by_category[static_cast<int>(Category::kTemporary)], 512u);
  const LiveSet at2 = LiveAt(*t, 2);
  EXPECT_EQ(at2.by_category[static_cast<int>(Category::kActivation)], 512u);
  ASSERT_EQ(at2.allocations.size(), 2u);
  EXPECT_EQ(at2.allocations[0].id.value, 1u);
  EXPECT_EQ(LiveAt(*t, 3).allocated, 5120u);
  EXPECT_EQ(LiveAt(*t, 99).allocated, 5120u) << "clamped to the last event";

  const std::vector<Group> stacks = GroupLive(*t, at2, GroupBy::kStack);
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].name, "(no module) > (no op)");
  EXPECT_EQ(stacks[1].name, "layer.0 > mm");
  EXPECT_EQ(GroupLive(*t, at2, GroupBy::kCategory)[0].name, "Parameter");
}

TEST(Analysis, EventAtTimeFindsLastEventUpToThatTime) {
  const auto t = Script().At(5).Marker(0).At(5).Marker(0).At(9).Marker(0).Build();
  EXPECT_EQ(EventAtTime(*t, 0), 0u);
  EXPECT_EQ(EventAtTime(*t, 5 * kMs), 1u);
  EXPECT_EQ(EventAtTime(*t, 9 * kMs - 1), 1u);
  EXPECT_EQ(EventAtTime(*t, 100 * kMs), 2u);
}

TEST(Analysis, StepTimesCountNestedPhasesOnce) {
  const auto t = Script()
                     .At(0)
                     .Step(4)
                     .At(1)
                     .Phase(Phase::kForward)
                     .At(2)
                     .Phase(Phase::kLoss)  // nested: counted once
                     .At(4)
                     .EndPhase()
                     .At(6)
                     .EndPhase()
                     .At(6)
                     .Phase(Phase::kLoss)  // not nested: counts as forward, too
                     .At(7)
                     .EndPhase()
                     .At(8)
                     .Phase(Phase::kBackward)
                     .At(9)
                     .Phase(Phase::kForward)  // recomputation
                     .At(10)
                     .Alloc(4096, Category::kGradient)
                     .At(11)
                     .EndPhase()
                     .At(12)
                     .EndPhase()
                     .At(13)
                     .Phase(Phase::kOptimizer)
                     .At(15)
                     .EndPhase()
                     .At(20)
                     .EndStep()
                     .At(21)
                     .Phase(Phase::kForward)  // outside of the step
                     .At(30)
                     .EndPhase()
                     .Build();
  const std::vector<StepRow> rows = StepTable(*t, ComputeCurves(*t));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].index, 4);
  EXPECT_DOUBLE_EQ(rows[0].forward_ms, 6);
  EXPECT_DOUBLE_EQ(rows[0].backward_ms, 4);
  EXPECT_DOUBLE_EQ(rows[0].optimizer_ms, 2);
  EXPECT_DOUBLE_EQ(rows[0].total_ms, 20);
  EXPECT_EQ(rows[0].peak_allocated, 4096u);
  EXPECT_EQ(rows[0].peak_phase, Phase::kForward);
}

TEST(Analysis, StepPeakIncludesMemoryAtItsStart) {
  const auto t = Script()
                     .Alloc(8192, Category::kParameter)
                     .Step(0)
                     .Free(0)
                     .Alloc(512, Category::kInput)
                     .EndStep()
                     .Build();
  const std::vector<StepRow> rows = StepTable(*t, ComputeCurves(*t));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].peak_allocated, 8192u);
}

TEST(Analysis, OutsideStepsListsEvaluationAndSaving) {
  const auto t = Script()
                     .Alloc(8192, Category::kParameter)
                     .Step(0)
                     .Phase(Phase::kForward)
                     .At(10)
                     .EndPhase()
                     .EndStep()
                     .At(20)
                     .Phase(Phase::kData)
                     .At(30)
                     .EndPhase()
                     .At(40)
                     .Phase(Phase::kEval)
                     .Alloc(4096, Category::kTemporary)
                     .At(50)
                     .EndPhase()
                     .At(60)
                     .Phase(Phase::kData)
                     .At(70)
                     .EndPhase()
                     .At(80)
                     .Phase(Phase::kEval)
                     .Free(1)
                     .At(90)
                     .EndPhase()
                     .At(100)
                     .Phase(Phase::kSave)
                     .At(110)
                     .EndPhase()
                     .Build();
  const std::vector<OutsideRow> rows = OutsideSteps(*t, ComputeCurves(*t));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].phase, Phase::kEval);
  EXPECT_EQ(rows[0].after_step, 0);
  EXPECT_EQ(rows[0].count, 2u);
  EXPECT_DOUBLE_EQ(rows[0].total_ms, 20);
  EXPECT_EQ(rows[0].peak_allocated, 8192u + 4096u);
  EXPECT_EQ(rows[1].phase, Phase::kSave);
  EXPECT_EQ(rows[1].peak_allocated, 8192u) << "blocks that are live at the beginning of the phase";
}

TEST(Analysis, SummaryUsesTrainingMarkers) {
  const auto t = Script()
                     .Device(8192, 1024)
                     .Segment(4096)
                     .Alloc(1000, Category::kParameter)
                     .Marker(kBegin)
                     .Step(0)
                     .Alloc(2000, Category::kOptimizerState)
                     .EndStep()
                     .Marker(kEnd)
                     .Free(0)
                     .Build();
  const Summary s = Summarize(*t, ComputeCurves(*t));
  EXPECT_EQ(s.before_training.allocated, 1024u);
  EXPECT_EQ(s.before_training.reserved, 4096u);
  EXPECT_EQ(s.after_training.allocated, 3072u);
  EXPECT_EQ(s.headroom_bytes, 8192 - 1024 - 4096);
  EXPECT_TRUE(s.fits);
  EXPECT_FALSE(s.out_of_memory);
}

TEST(Analysis, SummaryUsesStepsIfMarkersAreMissing) {
  const auto t = Script()
                     .Alloc(512, Category::kParameter)
                     .Step(0)
                     .Alloc(512, Category::kGradient)
                     .EndStep()
                     .Step(1)
                     .Alloc(1024, Category::kGradient)
                     .EndStep()
                     .Free(0)
                     .Build();
  const Summary s = Summarize(*t, ComputeCurves(*t));
  EXPECT_EQ(s.before_training.allocated, 512u);
  EXPECT_EQ(s.after_training.allocated, 2048u);
}

TEST(Analysis, SummaryReportsMissingMemory) {
  const auto t = Script().Device(8192, 1024).Segment(16384).Build();
  const Summary s = Summarize(*t, ComputeCurves(*t));
  EXPECT_FALSE(s.fits);
  EXPECT_EQ(s.headroom_bytes, 8192 - 1024 - 16384);
  const auto oom = Script().Device(1 << 20, 0).Add(EventKind::kOutOfMemory).Build();
  EXPECT_TRUE(Summarize(*oom, ComputeCurves(*oom)).out_of_memory);
  EXPECT_FALSE(Summarize(*oom, ComputeCurves(*oom)).fits);
}

TEST(Analysis, PhaseTotalsIncludeMemoryOnEntry) {
  const auto t = Script()
                     .Alloc(1024, Category::kParameter)
                     .Step(0)
                     .Phase(Phase::kForward)
                     .Alloc(512, Category::kActivation)
                     .EndPhase()
                     .EndStep()
                     .Build();
  std::vector<std::string> rows;
  for (const PhaseTotal& r : PhaseTotals(*t, ComputeCurves(*t))) {
    rows.push_back(std::to_string(r.step) + " " + std::string(Name(r.phase)) + " " +
                   std::string(Name(r.category)) + " " + std::to_string(r.bytes));
  }
  EXPECT_THAT(rows, ::testing::ElementsAre("-1 none Parameter 1024", "-1 none Activation 512",
                                           "0 none Parameter 1024", "0 none Activation 512",
                                           "0 forward Parameter 1024", "0 forward Activation 512"));
}

TEST(Analysis, DiffAlignsByStep) {
  const auto a = Script().Step(0).Alloc(512, Category::kInput).EndStep().Build();
  const auto b = Script().Step(0).Alloc(1024, Category::kInput).EndStep().Step(1).EndStep().Build();
  uint64_t in_step_0 = 0, only_b = 0;
  for (const DiffRow& r : Diff(*a, *b)) {
    if (r.step == 0) in_step_0 += r.b - r.a;
    if (r.step == 1) only_b += r.a == 0 ? r.b : 0;
  }
  EXPECT_EQ(in_step_0, 512u);
  EXPECT_EQ(only_b, 1024u);
}

// The recording has three stacks. Two of them belong to the same line of the program.
TEST(Analysis, StackGroupsAreNamedByProgramLines) {
  trace::TraceBuilder b;
  ASSERT_TRUE(
      b.AddStrings(0,
                   std::vector<std::string>{
                       "", "at::empty", "step", "/home/u/optimizer.py", "wrapper",
                       "/venv/site-packages/torch/optim.py",
                       "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)",
                       "??", "recording_begin"})
          .ok());
  trace::StackIncrement stacks;
  stacks.function = {{1}, {2}, {4}, {6}};
  stacks.file = {{}, {3}, {5}, {7}};
  stacks.line = {0, 80, 12, 0};
  stacks.lengths = {3, 2, 2};
  stacks.frames = {0, 2, 1, 1, 2, 0, 3};
  ASSERT_TRUE(b.AddStacks(stacks).ok());
  std::vector<Event> events;
  const auto alloc = [&](uint64_t bytes, uint32_t stack) {
    Event e;
    e.kind = EventKind::kAlloc;
    e.id = events.empty() ? 0 : events.back().id + 1;
    e.bytes = e.bytes_rounded = bytes;
    e.stack = {stack};
    events.push_back(e);
  };
  alloc(4096, 0);
  Event marker;
  marker.name = {8};
  marker.id = events.back().id;
  events.push_back(marker);
  alloc(1024, 1);
  alloc(1024, 2);
  alloc(512, 3);
  alloc(256, 0);
  ASSERT_TRUE(b.AddEvents(events).ok());
  const auto t = b.Finish(true, "");
  ASSERT_NE(t->recording_begin, trace::kNoEvent);
  const LiveSet live = LiveAt(*t, t->events.size());
  const auto names = [&](GroupBy by) {
    std::string out;
    for (const Group& g : GroupLive(*t, live, by))
      out += g.name + " " + std::to_string(g.bytes) + ", ";
    return out;
  };
  EXPECT_EQ(names(GroupBy::kStack),
            "(before the recording) 4096, optimizer.py:80 step 2048, MmBackward0 512, (no stack) "
            "256, ");
  EXPECT_EQ(names(GroupBy::kPhase), "(before the recording) 4096, none 2816, ");
  // Memory that exists when the recording begins counts as allocated before the training, although
  // the recording has no event for its allocation.
  EXPECT_EQ(Summarize(*t, ComputeCurves(*t)).before_training.allocated, 4096u);
}

// PyTorch's counter subtracts a block as soon as its free is requested.
TEST(Analysis, PyTorchCounterExcludesPendingFrees) {
  trace::TraceBuilder b;
  const auto event = [](trace::EventKind kind, uint64_t id) {
    trace::Event e;
    e.kind = kind;
    e.id = id;
    e.bytes = e.bytes_rounded = kind == trace::EventKind::kAlloc ? 1024 : 0;
    return e;
  };
  ASSERT_TRUE(b.AddEvents(std::vector<trace::Event>{event(trace::EventKind::kAlloc, 0),
                                                    event(trace::EventKind::kFreeRequested, 0),
                                                    event(trace::EventKind::kAlloc, 1),
                                                    event(trace::EventKind::kFreeCompleted, 0)})
                  .ok());
  const auto t = b.Finish(true, "");
  EXPECT_EQ(FindPeak(*t, ComputeCurves(*t)).allocated, 2048u);
  EXPECT_EQ(MostByCounter(*t), 1024u);
}

// If an allocation names no operator (as in a compiled graph), it belongs to the open operator.
TEST(Analysis, AllocationWithoutOpBelongsToTheOpenOp) {
  trace::TraceBuilder b;
  ASSERT_TRUE(b.AddStrings(0, std::vector<std::string>{"", "aten::mm", "aten::add"}).ok());
  const auto op = [](uint32_t name) {
    trace::Event e;
    e.kind = name == 0 ? trace::EventKind::kOpEnd : trace::EventKind::kOpBegin;
    e.name = {name};
    return e;
  };
  const auto alloc = [](uint64_t id) {
    trace::Event e;
    e.kind = trace::EventKind::kAlloc;
    e.id = id;
    e.bytes = e.bytes_rounded = 512 << id;
    return e;
  };
  ASSERT_TRUE(b.AddEvents(std::vector<trace::Event>{op(1), alloc(0), op(2), alloc(1), op(0), op(0),
                                                    alloc(2)})
                  .ok());
  const auto t = b.Finish(true, "");
  const std::vector<Group> groups = GroupLive(*t, LiveAt(*t, 6), GroupBy::kOp);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name, "(no op)");
  EXPECT_EQ(groups[1].name, "aten::add");
  EXPECT_EQ(groups[2].name, "aten::mm");
}

}  // namespace
}  // namespace vramscope::analysis
