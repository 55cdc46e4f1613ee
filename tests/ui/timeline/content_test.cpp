// Tests how the canvas draws traces without times, snapshots without history, and the marks of a
// search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/ui/panels/altered_trace.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/model/ticks.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

using ::testing::ContainsRegex;
using ::testing::Not;
using vramscope::testing::MakeRecordedTrace;
using vramscope::testing::MakeState;
using vramscope::testing::WithLongFrames;
using vramscope::testing::WithMetadata;
using vramscope::testing::WithoutTimes;

class FixedMeasure : public TextMeasure {
 public:
  float Width(std::string_view s, Font) const override {
    return 6.5f * static_cast<float>(s.size());
  }
};

class ContentTest : public ::testing::Test {
 protected:
  void Show(std::shared_ptr<const trace::Trace> trace) {
    trace_ = trace;
    model_.SetAnimations(false);
    model_.Resize(1200, 800, 1);
    model_.SetData(TimelineData::Build(trace), false, 0);
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> out;
    for (const bool overlay : {false, true}) {
      DrawList list;
      if (overlay)
        model_.BuildOverlay(measure_, &list);
      else
        counts_ = model_.BuildData(measure_, &list);
      for (const TextPrim& t : list.texts()) out.emplace_back(list.text(t));
    }
    return out;
  }
  static constexpr char kTime[] = "[0-9] (ns|\u00b5s|ms|s)($| )";

  FixedMeasure measure_;
  TimelineModel model_;
  std::shared_ptr<const trace::Trace> trace_;
  SceneCounts counts_;
};

TEST(EntriesTextTest, FormatsEntryNumbersAndLengths) {
  EXPECT_EQ(FormatEntry(1204), "entry 1,204");
  EXPECT_EQ(FormatLength(1, false), "1 entry");
  EXPECT_EQ(FormatLength(312, false), "312 entries");
  EXPECT_EQ(FormatLength(85'500'000, true), "85.5 ms");
  const auto ticks = EntryTicks(0, 100, 1000, 72, 1000);
  ASSERT_FALSE(ticks.empty());
  EXPECT_EQ(ticks.front().label, "entry 1,000");
  EXPECT_EQ(ticks.front().time_ns, 0) << "from the first entry on";
  for (const TimeTick& tick : EntryTicks(3, 9, 1000, 72, 0))
    EXPECT_EQ(tick.label, FormatEntry(tick.time_ns)) << "no half entries";
}

TEST_F(ContentTest, TraceWithoutTimesShowsEntryNumbers) {
  Show(WithoutTimes(*MakeRecordedTrace()));
  model_.SetCursor(7);
  model_.SetRange(Span{10, 35});
  model_.Select({3});
  const std::vector<std::string> texts = Texts();
  for (const std::string& text : texts) EXPECT_THAT(text, Not(ContainsRegex(kTime)));
  EXPECT_THAT(texts, ::testing::Contains("entry 7"));
  EXPECT_THAT(texts, ::testing::Contains(::testing::HasSubstr("25 entries")));
  Hit hit;
  hit.kind = HitKind::kAllocation;
  hit.allocation = {3};
  for (const TooltipRow& row : MakeTooltip(model_.state(), hit).rows)
    EXPECT_THAT(row.value, Not(ContainsRegex(kTime))) << row.label;
  // The same trace with times must show times.
  Show(MakeRecordedTrace());
  EXPECT_THAT(Texts(), ::testing::Contains(ContainsRegex(kTime)));
}

TEST_F(ContentTest, SnapshotTextIsNotElidedInANarrowCanvas) {
  Show(MakeState());
  for (const float width : {430.0f, 520.0f, 1200.0f}) {
    model_.Resize(width, 330, 1);
    std::string all;
    for (const std::string& text : Texts()) {
      EXPECT_THAT(text, Not(::testing::HasSubstr("\u2026"))) << width;
      EXPECT_LE(measure_.Width(text, Font::kBody), width);
      all += text + ' ';
    }
    EXPECT_THAT(all, ::testing::HasSubstr("shows memory at one time, without a history."));
  }
}

// If there are fewer entries than pixels, every column must still show the value at its time.
TEST_F(ContentTest, CurveHasNoGapsBetweenEntries) {
  const auto trace = WithoutTimes(*MakeRecordedTrace());
  Show(trace);
  DrawList list;
  model_.BuildData(measure_, &list);
  const StackPrim& stack = list.stacks()[1];  // the overview is the first
  ASSERT_GT(stack.columns, trace->events.size());
  const auto edges = list.edges(stack);
  uint32_t empty = 0;
  for (uint32_t i = 0; i < stack.columns; ++i)
    empty += edges[stack.layers * stack.columns + i] >= edges[i] - 1e-3f;
  EXPECT_LE(empty, 2 * stack.columns / trace->events.size() + 2) << "except before the first block";
  const auto columns = TimelineData::Build(trace)->curve_index().Query(0, 10, 100);
  for (size_t i = 30; i < 100; ++i) {
    EXPECT_GT(columns.allocated_max[i], 0u) << i;
    EXPECT_GT(columns.reserved_max[i], 0u) << i;
  }
}

TEST_F(ContentTest, SnapshotWithoutHistoryShowsSummaryNotLanes) {
  Show(MakeState());
  const std::vector<std::string> texts = Texts();
  EXPECT_THAT(texts, ::testing::Contains("A snapshot without history"));
  EXPECT_THAT(texts, ::testing::Contains("176.000 MiB allocated in 2 blocks, 192.000 MiB reserved "
                                         "in 2 segments"));
  for (const std::string& text : texts) EXPECT_THAT(text, Not(ContainsRegex(kTime)));
  EXPECT_EQ(counts_.columns, 0u);
  EXPECT_EQ(counts_.block_rects, 0u);
  // It must not be possible to hit, drag or zoom anything.
  const Span before = model_.state().viewport.view();
  model_.Wheel({.x = 600, .y = 400, .dy = 120}, 0);
  model_.Press({.x = 300, .y = 400, .button = Button::kLeft}, 0);
  model_.Move({.x = 700, .y = 400}, 1);
  model_.Release({.x = 700, .y = 400, .button = Button::kLeft}, 2);
  EXPECT_EQ(model_.state().viewport.view(), before);
  EXPECT_FALSE(model_.state().range.has_value());
  EXPECT_EQ(model_.HitTest(600, 400).kind, HitKind::kNone);
}

TEST_F(ContentTest, MarksHighlightedBlocks) {
  Show(MakeRecordedTrace({.steps = 4}));
  Texts();
  EXPECT_EQ(counts_.marks, 0u);
  std::vector<trace::AllocationId> ids;
  for (uint32_t i = 0; i < trace_->allocations.size(); ++i)
    if (trace_->allocations.main_category[i] == trace::Category::kUnknown) ids.push_back({i});
  ASSERT_EQ(ids.size(), 4u);
  model_.Highlight(ids);
  Texts();
  EXPECT_EQ(counts_.marks, 4u) << "one mark per block in the view";
  model_.Select(ids[2]);  // selecting a block keeps the marks
  Texts();
  EXPECT_EQ(counts_.marks, 4u);
  model_.Highlight({});
  Texts();
  EXPECT_EQ(counts_.marks, 0u);
}

TEST_F(ContentTest, TooltipShowsUserMetadataAndElidesLongFrames) {
  Show(WithMetadata(*WithLongFrames(*MakeRecordedTrace())));
  Hit hit;
  hit.kind = HitKind::kAllocation;
  hit.allocation = {2};
  std::string all;
  for (const TooltipRow& row : MakeTooltip(model_.state(), hit).rows)
    all += row.label + "|" + row.value + "\n";
  EXPECT_THAT(all, ::testing::HasSubstr("user metadata|expert 3 of layer 7\n"));
  EXPECT_THAT(all, ::testing::HasSubstr("compile context|0/2\n"));
  EXPECT_THAT(all, ::testing::HasSubstr("VeryLongKernelName"));
  // The text must show both ends of the frame and not be wider than the tooltip.
  const std::string shown =
      ElideMiddle(measure_, vramscope::testing::kLongFrame, Font::kSmall, 420);
  EXPECT_LE(measure_.Width(shown, Font::kSmall), 420);
  EXPECT_THAT(shown, ::testing::StartsWith("at::TensorBase"));
  EXPECT_THAT(shown, ::testing::EndsWith("MemoryFormat>)"));
}

}  // namespace
}  // namespace vramscope::ui::timeline
