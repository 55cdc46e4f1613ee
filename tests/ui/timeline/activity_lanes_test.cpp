// Tests kernels, memcpys, API calls, idle gaps, pinned memory and several devices on the canvas.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "profiler/base/i18n.h"
#include "profiler/query/kernel_names.h"
#include "profiler/trace/device_counters.h"
#include "profiler/trace/one_device.h"
#include "profiler/trace/processes.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/activity_names.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/slice_facts.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using trace::ActivityKind;

class FixedMeasure : public TextMeasure {
 public:
  float Width(std::string_view s, Font) const override {
    return 6.5f * static_cast<float>(s.size());
  }
};

std::shared_ptr<const trace::Trace> Trace(int streams) {
  return testing::MakeSyntheticTrace({.layers = 3, .steps = 2, .activities = {.streams = streams}});
}

class ActivityLanesTest : public ::testing::Test {
 protected:
  void SetUp() override { Show(Trace(1)); }
  void Show(std::shared_ptr<const trace::Trace> trace,
            const std::shared_ptr<const trace::Trace>& whole = {}) {
    trace_ = std::move(trace);
    data_ = TimelineData::Build(trace_, {}, whole);
    model_.SetAnimations(false);
    model_.Resize(1200, 1400, 1);
    model_.SetData(data_, false, 0);
  }
  const LanePlace& At(std::string_view key) const { return model_.state().layout[key]; }
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const LanePlace& p : model_.state().layout.lanes)
      if (p.visible) keys.emplace_back(p.lane->key());
    return keys;
  }
  uint32_t First(ActivityKind kind, uint32_t stream = UINT32_MAX) const {
    const trace::ActivityTable& a = trace_->activities;
    for (uint32_t row = 0; row < a.size(); ++row)
      if (a.kind[row] == kind && (stream == UINT32_MAX || a.stream[row] == stream)) return row;
    return query::kNoRow;
  }
  // Selects an activity and zooms to it. Returns the position of its middle.
  Point ZoomTo(uint32_t row) {
    model_.SelectActivity(row);
    model_.ZoomToSelection(0);
    model_.RevealSelection(0);
    const Rect r = ActivityRectOf(model_.state(), row);
    return {r.x + r.w / 2, r.y + r.h / 2};
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> out;
    counts_ = model_.BuildData(measure_, &list_);
    for (const TextPrim& t : list_.texts()) out.emplace_back(list_.text(t));
    return out;
  }
  static std::string Value(const ActivityFacts& facts, std::string_view label) {
    for (const LinkedFact& f : facts.facts)
      if (f.label == label) return f.value;
    return "none";
  }
  static Link LinkOf(const std::vector<LinkedFact>& facts, Link::To to) {
    for (const LinkedFact& f : facts)
      if (f.link.to == to) return f.link;
    return {};
  }

  FixedMeasure measure_;
  TimelineModel model_;
  std::shared_ptr<const trace::Trace> trace_;
  std::shared_ptr<const TimelineData> data_;
  DrawList list_;
  SceneCounts counts_;
};

TEST_F(ActivityLanesTest, EveryStreamAndThreadHasALane) {
  EXPECT_THAT(Keys(), ::testing::IsSupersetOf({"memory/pinned", "idle/0", "stream/0/7",
                                               "stream/0/4", "collectives/0/5", "driver_memory/0",
                                               "calls/0", "synchronizations/0", "modules", "ops"}));
  uint64_t counted = 0;
  for (const LanePlace& p : model_.state().layout.lanes) {
    const std::string_view key = p.lane->key();
    if (key.find('/') == std::string_view::npos || key.starts_with("idle") ||
        key.starts_with("memory"))
      continue;
    counted += p.lane->Count(model_.state());
  }
  EXPECT_EQ(counted, trace_->activities.size()) << "each activity is in one lane";
  Texts();
  EXPECT_GT(counts_.activities, 10u);
}

TEST_F(ActivityLanesTest, UnfreedBlocksLastUntilTheGpuFinishes) {
  // The GPU is slower than the host, so it finishes after the last event.
  Show(testing::MakeSyntheticTrace(
      {.layers = 3, .steps = 2, .activities = {.streams = 1, .speed = 1.6}}));
  const auto end = static_cast<int64_t>(data_->duration_ns());
  ASSERT_GT(end, data_->FromTrace(trace_->end_ns()));
  const trace::AllocationTable& a = trace_->allocations;
  const auto alive = static_cast<uint32_t>(
      std::find(a.free_event.begin(), a.free_event.end(), trace::kNoEvent) - a.free_event.begin());
  ASSERT_LT(alive, a.size());
  const uint64_t offset = data_->address_axis().OffsetOf({alive});
  const int64_t late = trace_->begin_ns() + end - 1;
  const auto found = data_->block_index().At(late, offset);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->value, alive);
  EXPECT_TRUE(data_->address_axis().AddressAt(offset, late).has_value());
  // A freed block must not be found at its address after its free.
  for (uint32_t row = 0; row < a.size(); ++row) {
    if (a.free_event[row] == trace::kNoEvent) continue;
    const auto there = data_->block_index().At(late, data_->address_axis().OffsetOf({row}));
    EXPECT_TRUE(!there || a.free_event[there->value] == trace::kNoEvent) << row;
  }
}

TEST_F(ActivityLanesTest, LateMemoryCounterDoesNotExtendTheTimeline) {
  const double length = data_->duration_ns();
  Show(testing::MakeSyntheticTrace(
      {.layers = 3, .steps = 2, .activities = {.streams = 1, .asked_after_ns = 60'000'000'000}}));
  EXPECT_GT(trace_->activities.end_ns.back(), trace_->end_ns());
  EXPECT_EQ(data_->duration_ns(), length);
}

TEST_F(ActivityLanesTest, TraceWithoutActivitiesHasNoActivityLanes) {
  Show(testing::MakeSyntheticTrace({.layers = 3}));
  for (const std::string& key : Keys()) EXPECT_THAT(key, Not(HasSubstr("/")));
  EXPECT_EQ(data_->activities(), nullptr);
}

TEST_F(ActivityLanesTest, LabelsKernelsAndColoursMemcpysDifferently) {
  const uint32_t copy = First(ActivityKind::kMemcpy), kernel = First(ActivityKind::kKernel);
  for (const auto& [row, text, color] :
       {std::tuple{kernel, query::KernelName(trace_->String(trace_->activities.name[kernel])),
                   model_.state().theme.kernel},
        std::tuple{copy, std::string("pinned → device 8 MiB"), model_.state().theme.copy}}) {
    ZoomTo(row);
    EXPECT_THAT(Texts(), Contains(text));
    const Rect r = ActivityRectOf(model_.state(), row);
    bool drawn = false;
    for (const FillRect& f : list_.fills())
      drawn |= std::abs(f.x0 - r.x) < 1 && std::abs(f.y0 - r.y) < 0.5 &&
               std::abs(f.x1 - r.right()) < 2 &&
               (row == copy ? f.argb == color.argb() : f.argb != model_.state().theme.copy.argb());
    EXPECT_TRUE(drawn) << text;
  }
}

TEST_F(ActivityLanesTest, HitTestFindsDrawnActivities) {
  for (const ActivityKind kind :
       {ActivityKind::kKernel, ActivityKind::kMemcpy, ActivityKind::kCollective,
        ActivityKind::kRuntimeCall, ActivityKind::kSynchronization}) {
    const uint32_t row = First(kind);
    ASSERT_NE(row, query::kNoRow);
    const Point p = ZoomTo(row);
    const Hit hit = model_.HitTest(p.x, p.y);
    EXPECT_EQ(hit.kind, HitKind::kActivity) << Name(kind);
    EXPECT_EQ(hit.activity, row) << Name(kind);
    EXPECT_FALSE(MakeTooltip(model_.state(), hit).empty());
  }
}

TEST_F(ActivityLanesTest, KernelFactsLinkToCallOpAndAllocations) {
  const Point p = ZoomTo(First(ActivityKind::kKernel));
  model_.Select({});
  model_.Press({.x = p.x, .y = p.y, .button = Button::kLeft}, 0);
  model_.Release({.x = p.x, .y = p.y, .button = Button::kLeft}, 0);
  EXPECT_TRUE(model_.TakeChanges().selection);
  const uint32_t kernel = model_.state().selected_activity;
  ASSERT_EQ(kernel, First(ActivityKind::kKernel));
  const ActivityFacts facts = FactsOfActivity(*data_, kernel);
  EXPECT_EQ(facts.title, "ampere_sgemm_128x64_tn");
  EXPECT_THAT(Value(facts, "launched by"), HasSubstr("cudaLaunchKernel on thread 0"));
  EXPECT_EQ(Value(facts, "op"), "aten::mm");
  EXPECT_EQ(Value(facts, "module"), "model.layers.0.self_attn");
  EXPECT_THAT(Value(facts, "allocated by its op"), HasSubstr("2 allocations"));
  DrawList overlay;
  model_.BuildOverlay(measure_, &overlay);
  EXPECT_GE(overlay.polylines().size(), 1u) << "the line from the call";
  EXPECT_GE(overlay.boxes().size(), 2u * 5) << "kernel, call, op and two blocks";

  const Link made = LinkOf(facts.facts, Link::To::kAllocation);
  ASSERT_EQ(made.to, Link::To::kAllocation);
  model_.FollowLink(made, 0);
  EXPECT_EQ(model_.state().selection.value, made.row);
  EXPECT_EQ(model_.state().selected_activity, query::kNoRow);
  EXPECT_EQ(trace_->String(trace_->allocations.op[made.row]), "aten::mm");
  // There must also be links from the block to kernels.
  const std::vector<LinkedFact> kernels = KernelsOf(*data_, {made.row});
  EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), [&](const LinkedFact& f) {
    return f.link.to == Link::To::kActivity && f.link.row == kernel;
  }));
  model_.FollowLink(LinkOf(facts.facts, Link::To::kActivity), 0);
  EXPECT_EQ(trace_->activities.kind[model_.state().selected_activity], ActivityKind::kRuntimeCall);
  EXPECT_THAT(Value(FactsOfActivity(*data_, model_.state().selected_activity), "launches"),
              "ampere_sgemm_128x64_tn");
}

TEST_F(ActivityLanesTest, ModuleFactsListAllocationsAndLaunches) {
  const uint32_t kernel = First(ActivityKind::kKernel);
  const uint32_t module = data_->activities()->SliceOf(kernel, trace::SliceKind::kModule);
  ASSERT_NE(module, query::kNoRow);
  const ActivityFacts facts = FactsOfSlice(*data_, module);
  EXPECT_EQ(facts.title, "model.layers.0.self_attn");
  EXPECT_EQ(facts.subtitle, "module");
  const trace::SliceTable& s = trace_->slices;
  const trace::AllocationTable& a = trace_->allocations;
  uint64_t made = 0, bytes = 0, largest = 0;
  for (uint32_t i = 0; i < a.size(); ++i) {
    if (a.alloc_event[i] < s.begin_event[module] || a.alloc_event[i] >= s.end_event[module])
      continue;
    ++made;
    bytes += a.bytes_rounded[i];
    largest = std::max<uint64_t>(largest, a.bytes[i]);
  }
  EXPECT_EQ(Value(facts, "made"), fmt::format("{} allocations, {}", made, FormatBytes(bytes)));
  EXPECT_THAT(Value(facts, "largest"), HasSubstr(FormatBytes(largest)));
  EXPECT_THAT(Value(facts, "launched"), HasSubstr("kernels, memcpys and memsets"));
  const Link launched = LinkOf(facts.facts, Link::To::kActivity);
  ASSERT_EQ(launched.to, Link::To::kActivity);
  EXPECT_EQ(data_->activities()->SliceOf(launched.row, trace::SliceKind::kModule), module);
  // A step must show these facts and, in addition, its peak.
  for (uint32_t i = 0; i < s.size(); ++i)
    if (s.kind[i] == trace::SliceKind::kStep) {
      EXPECT_EQ(FactsOfSlice(*data_, i).subtitle, "step");
      EXPECT_FALSE(Value(FactsOfSlice(*data_, i), "peak in the slice").empty());
      break;
    }
}

// If operands of kernels are known, there must be links from a kernel to its blocks and back.
TEST_F(ActivityLanesTest, OperandsLinkKernelsAndBlocksBothWays) {
  auto with_operands = std::make_shared<trace::Trace>(*trace_);
  const trace::ActivityTable& a = with_operands->activities;
  std::vector<uint32_t> kernels;
  for (uint32_t row = 0; row < a.size() && kernels.size() < 3; ++row)
    if (a.kind[row] == ActivityKind::kKernel) kernels.push_back(row);
  ASSERT_EQ(kernels.size(), 3u);
  const uint32_t block = 4, other = 7;
  const auto add_operand = [&](uint32_t kernel, uint32_t id, bool read, bool written) {
    trace::Activity operand = a.Row(kernel);
    operand.kind = ActivityKind::kOperand;
    operand.end_ns = operand.begin_ns;
    operand.name = {};
    operand.address = with_operands->allocations.address[id] + 1;
    operand.bytes = static_cast<uint64_t>(with_operands->allocations.begin_ns[id]);
    operand.from = read ? trace::MemorySpace::kDevice : trace::MemorySpace::kUnknown;
    operand.to = written ? trace::MemorySpace::kDevice : trace::MemorySpace::kUnknown;
    with_operands->operands.Append(operand);
  };
  add_operand(kernels[0], block, false, true);
  add_operand(kernels[1], block, true, false);
  add_operand(kernels[1], other, false, false);
  add_operand(kernels[2], block, true, true);
  Show(with_operands);
  const ActivityFacts facts = FactsOfActivity(*data_, kernels[1]);
  EXPECT_THAT(Value(facts, "works on"), HasSubstr("2 blocks"));
  for (const auto& [label, id] : {std::pair("read", block), std::pair("touched", other)}) {
    const auto fact = std::find_if(facts.facts.begin(), facts.facts.end(),
                                   [&](const LinkedFact& f) { return f.label == label; });
    ASSERT_NE(fact, facts.facts.end()) << label;
    EXPECT_EQ(fact->link.to, Link::To::kAllocation);
    EXPECT_EQ(fact->link.row, id) << label;
  }
  std::map<std::string, uint32_t> ends;
  for (const LinkedFact& fact : KernelsOf(*data_, {block}))
    if (fact.link.to == Link::To::kActivity && !fact.label.empty())
      ends[fact.label] = fact.link.row;
  const std::map<std::string, uint32_t> expected = {
      {"first used by", kernels[0]},    {"last used by", kernels[2]},
      {"first read by", kernels[1]},    {"last read by", kernels[2]},
      {"first written by", kernels[0]}, {"last written by", kernels[2]}};
  EXPECT_EQ(ends, expected);
  EXPECT_EQ(KernelsWith(*data_, {block}), kernels);
  ASSERT_EQ(BlocksWith(*data_, kernels[1]).size(), 2u);
  EXPECT_THAT(BlocksWith(*data_, kernels[0]), ElementsAre(trace::AllocationId{block}));
  model_.SelectActivity(kernels[1]);
  DrawList overlay;
  model_.BuildOverlay(measure_, &overlay);
  EXPECT_GE(overlay.boxes().size(), 2u * 4) << "kernel, call and two blocks";
}

TEST_F(ActivityLanesTest, BracketKeysStepAlongTheStream) {
  const uint32_t first = First(ActivityKind::kKernel);
  model_.SelectActivity(first);
  model_.KeyPress(Key::kNextBlock, false, 0);
  const uint32_t next = model_.state().selected_activity;
  EXPECT_GT(next, first);
  EXPECT_EQ(data_->activities()->TrackOf(next), data_->activities()->TrackOf(first));
  model_.KeyPress(Key::kPreviousBlock, false, 0);
  EXPECT_EQ(model_.state().selected_activity, first);
  model_.KeyPress(Key::kEscape, false, 0);
  EXPECT_EQ(model_.state().selected_activity, query::kNoRow);
}

TEST_F(ActivityLanesTest, IdleGapsShowTheirCauseAndEvidence) {
  const query::IdleGaps& idle = *data_->idle();
  const auto line = idle.LineOf(0, trace::kAllStreams);
  ASSERT_TRUE(line);
  ASSERT_GT(idle.lines()[*line].gaps, 5u);
  const auto view = idle.Query(*line, trace_->begin_ns(), trace_->end_ns(), 1'000'000, 1);
  ASSERT_THAT(view.rects, Not(IsEmpty()));
  const query::IdleGap gap = idle.Gap(view.rects[2].row);
  // A selected gap must show its facts with links. Escape must deselect it.
  model_.SelectGap(view.rects[2].row);
  EXPECT_TRUE(model_.TakeChanges().selection);
  const ActivityFacts facts = FactsOfSelection(model_.state());
  EXPECT_EQ(Value(facts, "evidence"), Rule(gap.cause));
  EXPECT_EQ(LinkOf(facts.facts, Link::To::kActivity).row, gap.before);
  model_.ZoomToSelection(0);
  EXPECT_LE(model_.state().viewport.view().begin, data_->FromTrace(gap.begin_ns));
  EXPECT_LT(model_.state().viewport.view().width(), 4.0 * (gap.end_ns - gap.begin_ns));
  model_.KeyPress(Key::kEscape, false, 0);
  EXPECT_TRUE(FactsOfSelection(model_.state()).title.empty());
  model_.SetRange(Span{data_->FromTrace(gap.begin_ns), data_->FromTrace(gap.end_ns)});
  model_.ZoomToSelection(0);
  model_.SetRange(std::nullopt);
  const Rect body = At("idle/0").body;
  const double x =
      model_.state().viewport.ToX(data_->FromTrace(gap.begin_ns + (gap.end_ns - gap.begin_ns) / 2));
  const Hit hit = model_.HitTest(x, body.y + 5);
  ASSERT_EQ(hit.kind, HitKind::kIdle);
  EXPECT_EQ(hit.gap, view.rects[2].row);
  const Tooltip tip = MakeTooltip(model_.state(), hit);
  EXPECT_EQ(tip.title, "idle " + FormatDuration(gap.end_ns - gap.begin_ns));
  std::string all;
  for (const TooltipRow& row : tip.rows) all += row.label + "|" + row.value + "\n";
  EXPECT_THAT(all, HasSubstr("evidence|" + std::string(query::Rule(gap.cause))));
  Texts();
  EXPECT_GT(counts_.gaps, 0u);
}

TEST_F(ActivityLanesTest, PinnedMemoryHasItsOwnLane) {
  ASSERT_TRUE(At("memory/pinned").visible);
  const Series& pinned = data_->series().front();
  EXPECT_EQ(pinned.highest, uint64_t{8} << 20);
  EXPECT_EQ(pinned.At(trace_->end_ns() + 1), 0u)
      << "a free without a size has that of its allocation";
  const Rect body = At("memory/pinned").body;
  const Hit hit = model_.HitTest(body.x + body.w / 2, body.y + 5);
  EXPECT_EQ(MakeTooltip(model_.state(), hit).title, FormatBytes(uint64_t{8} << 20));
}

// The lane of the GPU's clock must start folded. So must the lane of pinned memory if there are
// only 4 bytes of it.
TEST_F(ActivityLanesTest, CountersAndSmallPinnedMemoryStartFolded) {
  trace::TraceBuilder builder;
  ASSERT_TRUE(builder.AddStrings(0, std::vector<std::string>{"", "SM clock"}).ok());
  std::vector<trace::Activity> activities(3);
  activities[0].kind = ActivityKind::kCounter;
  activities[0].name = {1};
  activities[0].bytes = 2520;
  activities[1].kind = ActivityKind::kDriverAlloc;
  activities[1].to = trace::MemorySpace::kPinned;
  activities[1].bytes = 4;
  activities[2].kind = ActivityKind::kKernel;
  activities[2].end_ns = 1000;
  ASSERT_TRUE(builder.AddActivities(activities).ok());
  Show(builder.Finish(true, ""));
  EXPECT_EQ(Keys().back(), "counter/0/SM clock");
  EXPECT_TRUE(At("counter/0/SM clock").folded);
  EXPECT_TRUE(At("memory/pinned").folded);
  EXPECT_FALSE(At("stream/0/0").folded);
  EXPECT_TRUE(model_.ChangeLane(LaneAction::kFold, "memory/pinned"));
  EXPECT_FALSE(At("memory/pinned").folded);
  EXPECT_GT(At("memory/pinned").body.h, 10);
  model_.SetLaneSettings(LaneSettings::FromText(model_.lane_settings().ToText()));
  EXPECT_FALSE(At("memory/pinned").folded) << "the lane stays unfolded";
  Texts();
}

TEST_F(ActivityLanesTest, OnlyCountersOfVramscopeAreTranslated) {
  i18n::SetTranslator([](const std::string& english) { return "<" + english + ">"; });
  EXPECT_EQ(CounterLabel(trace::kCounterUsed), "<memory used by all processes>");
  EXPECT_EQ(CounterLabel("SM clock"), "SM clock");
  i18n::SetTranslator(nullptr);
  EXPECT_EQ(CounterLabel(trace::kCounterTotal), "total GPU memory");
  EXPECT_EQ(CounterLabel(trace::kCounterProcess), "memory used by this process");
}

TEST_F(ActivityLanesTest, ManyStreamsScrollBelowMemoryAndBlocks) {
  Show(Trace(60));
  model_.Resize(1200, 800, 1);
  EXPECT_GT(model_.state().layout.scroll_most, 1000);
  EXPECT_GE(At("memory").body.h, 110);
  EXPECT_GE(At("blocks").body.h, 70);
  Texts();
  EXPECT_LT(counts_.lanes, 40u) << "invisible parts are not drawn";
  const uint32_t far = First(ActivityKind::kKernel, 7 + 55);
  EXPECT_FALSE(At("stream/0/62").in_sight());
  model_.FollowLink({Link::To::kActivity, far}, 0);
  EXPECT_TRUE(At("stream/0/62").in_sight()) << "a link scrolls there";
}

TEST_F(ActivityLanesTest, StreamsAboveTheLimitAreCountedInANotice) {
  Show(Trace(200));
  const auto keys = Keys();
  EXPECT_THAT(keys, Contains("more"));
  EXPECT_LT(keys.size(), 150u);
}

TEST_F(ActivityLanesTest, ShowsOneMemoryLanePerDevice) {
  std::vector<trace::ProcessTrace> parts;
  for (int rank = 0; rank < 4; ++rank)
    parts.push_back(
        {"rank " + std::to_string(rank),
         testing::MakeSyntheticTrace({.layers = rank == 2 ? 5 : 3, .activities = {.streams = 1}}),
         1000 * rank});
  const auto whole = trace::JoinProcesses(parts);
  ASSERT_TRUE(whole.ok()) << whole.status();
  Show(trace::OfDevice(*whole, 1), *whole);
  ASSERT_EQ(data_->devices().size(), 4u);
  for (const DeviceMemory& memory : data_->devices())
    EXPECT_GE(data_->duration_ns(), data_->FromTrace(memory.curve->time_ns.back())) << memory.name;
  int marked = 0;
  const auto texts = Texts();
  for (const std::string& text : texts) marked += text.find("· highest peak") != std::string::npos;
  EXPECT_EQ(marked, 1);
  const Rect body = At("device/2").body;
  ASSERT_FALSE(body.empty());
  const Hit hit = model_.HitTest(body.x + body.w / 2, body.y + 5);
  const Tooltip tip = MakeTooltip(model_.state(), hit);
  EXPECT_EQ(tip.title, "rank 2");
  EXPECT_EQ(tip.rows.size(), 4u);
  EXPECT_THAT(tip.rows[2].value, HasSubstr(FormatBytes(data_->devices()[2].peak)));
  EXPECT_GT(data_->devices()[2].peak, data_->devices()[1].peak);
}

// Returns the numbers of all rectangles, columns and curves of a draw list.
std::vector<double> Numbers(const DrawList& list) {
  std::vector<double> numbers;
  const auto add = [&](const auto&... values) {
    (numbers.push_back(static_cast<double>(values)), ...);
  };
  for (const FillRect& r : list.fills()) add(r.x0, r.y0, r.x1, r.y1, r.argb);
  for (const BoxPrim& b : list.boxes()) add(b.rect.x, b.rect.y, b.rect.w, b.rect.h, b.fill);
  for (const StripPrim& s : list.strips()) {
    add(s.area.x, s.area.y, s.area.w, s.area.h);
    for (const uint32_t color : list.strip(s)) add(color);
  }
  for (const StackPrim& s : list.stacks()) {
    add(s.area.x, s.area.y, s.area.w, s.area.h);
    for (const float edge : list.edges(s)) add(edge);
  }
  return numbers;
}

// When the view moves, only the part that becomes visible is queried. The result must equal a query
// of the whole view.
TEST_F(ActivityLanesTest, PannedViewDrawsLikeAFreshOne) {
  Show(testing::MakeSyntheticTrace({.layers = 6, .steps = 8, .activities = {.streams = 3}}));
  const double duration = data_->duration_ns();
  const auto show = [&](TimelineModel& model, double begin, double length) {
    model.SetRange(Span{begin, begin + length});
    model.ZoomToSelection(0);
    model.SetRange(std::nullopt);
  };
  for (const double part : {0.5, 0.05, 0.004}) {
    double begin = duration * 0.3;
    show(model_, begin, duration * part);
    Texts();
    for (const double by : {0.3, -0.17, 0.0013, -0.0004, 0.9, -0.61, 2.0, 0.05}) {
      begin += by * part * duration;
      show(model_, begin, duration * part);
      const auto texts = Texts();
      TimelineModel anew;
      anew.SetAnimations(false);
      anew.Resize(1200, 1400, 1);
      anew.SetData(data_, false, 0);
      show(anew, begin, duration * part);
      DrawList list;
      const SceneCounts counts = anew.BuildData(measure_, &list);
      EXPECT_EQ(counts.slice_columns, counts_.slice_columns);
      EXPECT_EQ(Numbers(list), Numbers(list_)) << part << ", " << by;
      EXPECT_EQ(list.texts().size(), texts.size());
    }
  }
}

}  // namespace
}  // namespace vramscope::ui::timeline
