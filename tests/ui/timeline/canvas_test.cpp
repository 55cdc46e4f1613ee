// Tests the canvas without Qt on synthetic traces: scene, hit test, input, tooltips, animations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

using ::testing::HasSubstr;

class FixedMeasure : public TextMeasure {
 public:
  float Width(std::string_view s, Font) const override {
    return 6.5f * static_cast<float>(s.size());
  }
};

class CanvasTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_.SetAnimations(false);
    model_.Resize(1024, 800, 1);
    trace_ = testing::MakeSyntheticTrace({.layers = 6, .steps = 2, .micro_batches = 2});
    data_ = TimelineData::Build(trace_);
    model_.SetData(data_, false, 0);
  }

  const CanvasState& state() const { return model_.state(); }
  const Rect& Body(std::string_view lane) const { return state().layout[lane].body; }
  void Click(double x, double y) {
    model_.Press({.x = x, .y = y, .button = Button::kLeft}, 0);
    model_.Release({.x = x, .y = y, .button = Button::kLeft}, 0);
  }
  SceneCounts Draw() { return model_.BuildData(measure_, &list_); }
  std::vector<std::string> Texts(const DrawList& list) {
    std::vector<std::string> out;
    for (const TextPrim& t : list.texts()) out.emplace_back(list.text(t));
    return out;
  }
  // Draws the canvas and returns the box around the text of the peak.
  Rect Callout() {
    Draw();
    const std::string title = "peak " + FormatBytes(data_->peak().allocated);
    Rect found;
    for (const TextPrim& t : list_.texts())
      if (list_.text(t) == title)
        for (const BoxPrim& box : list_.boxes())
          if (box.rect.Contains(t.box.x, t.box.y)) found = box.rect;  // the last one drawn
    return found;
  }
  // Returns an allocation whose rectangle can be hit in the current view.
  trace::AllocationId SomeBlock() {
    const trace::AllocationTable& a = trace_->allocations;
    for (uint32_t i = 0; i < a.size(); ++i) {
      if (a.category[i] == trace::Category::kActivation && BlockRectOf(state(), {i}).w > 8)
        return {i};
    }
    return {};
  }

  FixedMeasure measure_;
  TimelineModel model_;
  std::shared_ptr<const trace::Trace> trace_;
  std::shared_ptr<const TimelineData> data_;
  DrawList list_;
};

// The overview is queried once for a trace and a width. Another trace needs a new query.
TEST_F(CanvasTest, OverviewDependsOnTheTraceNotTheView) {
  const auto overview = [&](TimelineModel& m) {
    m.BuildData(measure_, &list_);
    const auto edges = list_.edges(list_.stacks()[0]);
    return std::vector<float>(edges.begin(), edges.end());
  };
  const auto shown = overview(model_);
  model_.ZoomBy(5, 0);
  EXPECT_EQ(overview(model_), shown);
  model_.SetData(TimelineData::Build(testing::MakeSyntheticTrace(
                     {.layers = 6, .steps = 2, .micro_batches = 2, .activation_share = 0.5})),
                 false, 0);
  model_.Resize(900, 800, 1);
  const auto other = overview(model_);
  EXPECT_NE(other, shown);
  TimelineModel anew;
  anew.SetAnimations(false);
  anew.Resize(900, 800, 1);
  anew.SetData(model_.state().data, false, 0);
  EXPECT_EQ(other, overview(anew));
}

TEST_F(CanvasTest, StackHeightEqualsAllocatedBytes) {
  SceneCounts counts = Draw();
  ASSERT_EQ(list_.stacks().size(), 2u);  // overview and memory
  const StackPrim& s = list_.stacks()[1];
  ASSERT_EQ(s.columns, counts.columns);
  auto edges = list_.edges(s);
  const Span& v = state().viewport.view();
  // The stack has one column more than there are pixels, because a view may begin within a column.
  // Here, it does not, so the last column is empty.
  auto c = data_->curve_index().Query(data_->ToTrace(v.begin), data_->ToTrace(v.end),
                                      static_cast<int>(s.columns) - 1);
  c.allocated_max.push_back(0);
  double px_per_byte = Body("memory").h / static_cast<double>(state().axis.max);
  for (uint32_t i = 0; i < s.columns; ++i) {
    for (uint32_t l = 0; l < s.layers; ++l) {
      ASSERT_LE(edges[(l + 1) * s.columns + i], edges[l * s.columns + i] + 1e-3);
    }
    double height = edges[i] - edges[s.layers * s.columns + i];
    ASSERT_NEAR(height, static_cast<double>(c.allocated_max[i]) * px_per_byte, 0.05) << i;
  }
}

// If 20 ns of a run of seconds are shown, the columns from there to the end of the run are more
// than an int can count.
TEST_F(CanvasTest, StackIsDrawnAtEveryZoomLevel) {
  const auto run =
      TimelineData::Build(testing::MakeSyntheticTrace({.layers = 6, .steps = 2, .speed = 1000}));
  ASSERT_GT(run->duration_ns(), 1e9);
  model_.SetData(run, false, 0);
  double before = 0;
  while (before != state().viewport.view().width()) {
    before = state().viewport.view().width();
    Draw();
    ASSERT_EQ(list_.stacks().size(), 2u);
    const StackPrim& s = list_.stacks()[1];
    const auto edges = list_.edges(s);
    EXPECT_GT(edges[0] - edges[s.layers * s.columns], 10) << before << " ns";
    model_.ZoomBy(20, 0);
  }
  EXPECT_NEAR(before, Viewport::kMinSpanNs, 1);
}

TEST_F(CanvasTest, ByteLabelsAreNeitherCutNorOverlapping) {
  int labels = 0, under = 0;
  for (int height = 300; height < 1000; height += 7) {
    model_.Resize(1024, static_cast<float>(height), 1);
    Draw();
    const Rect& body = Body("memory");
    std::vector<Rect> boxes;
    for (const TextPrim& t : list_.texts()) {
      const std::string_view text = list_.text(t);
      if (t.font != Font::kSmall || t.box.right() < body.right() - 7 || t.box.bottom() < body.y ||
          t.box.y > body.bottom() || !(text.ends_with("iB") && text.find(' ') == text.rfind(' ')))
        continue;
      EXPECT_GE(t.box.y, body.y) << text << " at a height of " << height;
      const double bytes = static_cast<double>(state().axis.step);
      const double lowest =
          state().BytesToY(bytes * std::floor(static_cast<double>(state().axis.max) / bytes), body);
      under += t.box.y > lowest;
      for (const Rect& other : boxes)
        EXPECT_TRUE(other.Intersect(t.box).empty()) << text << " at a height of " << height;
      boxes.push_back(t.box);
      ++labels;
    }
  }
  EXPECT_GT(labels, 100);
  EXPECT_GT(under, 0);
}

TEST_F(CanvasTest, MarksThePeakAtItsTimeAndHeight) {
  SceneCounts counts = Draw();
  EXPECT_TRUE(counts.peak_shown);
  EXPECT_THAT(Texts(list_), ::testing::Contains("peak " + FormatBytes(data_->peak().allocated)));
  ASSERT_EQ(list_.circles().size(), 1u);
  double time = data_->FromTrace(data_->peak().context.time_ns);
  EXPECT_NEAR(list_.circles()[0].x, state().viewport.ToX(time), 0.01);
  const double peak = static_cast<double>(data_->peak().allocated);
  EXPECT_NEAR(list_.circles()[0].y, state().BytesToY(peak, Body("memory")), 0.01);
  // If the peak is outside the view, it must have no mark. The key P must move the view to it.
  Span away = time > data_->duration_ns() / 2 ? Span{0, time * 0.3}
                                              : Span{time * 1.5, data_->duration_ns()};
  model_.SetRange(away);
  model_.ZoomToSelection(0);
  EXPECT_FALSE(Draw().peak_shown);
  model_.KeyPress(Key::kPeak, false, 0);
  EXPECT_TRUE(Draw().peak_shown);
  EXPECT_TRUE(model_.TakeChanges().cursor);
  EXPECT_NEAR(*state().cursor, time, 1);
}

// Regression test: in a small window, the text of the peak hid most of the curve.
TEST_F(CanvasTest, PeakCalloutIsOneLineInALowLane) {
  ASSERT_GE(Body("memory").h, 150);
  EXPECT_FLOAT_EQ(Callout().h, 42);
  model_.Resize(1024, 340, 1);
  ASSERT_LT(Body("memory").h, 150);
  EXPECT_FLOAT_EQ(Callout().h, 26);
}

TEST_F(CanvasTest, PeakCalloutIsBesideTheMarkWithinTheLane) {
  const double peak = data_->FromTrace(data_->peak().context.time_ns);
  const double width = data_->duration_ns() * 0.02;
  for (const double part : {0.0, 0.3, 0.5, 0.7, 1.0}) {
    model_.SetView(Span{peak - part * width, peak + (1 - part) * width});
    const Rect box = Callout();
    ASSERT_EQ(list_.circles().size(), 1u) << part;
    const float mark = list_.circles()[0].x;
    EXPECT_TRUE(box.x > mark || box.right() < mark) << part;
    EXPECT_GE(box.x, Body("memory").x) << part;
    EXPECT_LE(box.right(), Body("memory").right()) << part;
    if (part == 0.0) {
      EXPECT_GT(box.x, mark);
    } else if (part == 1.0) {
      EXPECT_LT(box.right(), mark);
    }
  }
}

TEST_F(CanvasTest, LabelsStepsAndPhasesWithDurations) {
  model_.Resize(4000, 800, 1);
  Draw();
  const auto texts = Texts(list_);
  EXPECT_THAT(texts, ::testing::Contains("Step 0"));
  EXPECT_THAT(texts, ::testing::Contains("Step 1"));
  const trace::SliceTable& t = trace_->slices;
  int wide = 0;
  for (uint32_t i = 0; i < t.size(); ++i) {
    if (t.kind[i] != trace::SliceKind::kPhase) continue;
    const std::string label =
        std::string(data_->SliceName(i)) + " " + FormatDuration(t.end_ns[i] - t.begin_ns[i]);
    // A label is only drawn if it fits into its slice with some space beside it.
    if (SliceRectOf(state(), i).w < measure_.Width(label, Font::kSmallBold) + 20) continue;
    EXPECT_THAT(texts, ::testing::Contains(label));
    ++wide;
  }
  EXPECT_GE(wide, 4) << "forward and backward of two steps";
}

TEST_F(CanvasTest, TextsStayInsideALane) {
  Draw();
  int checked = 0;
  for (const TextPrim& t : list_.texts()) {
    const std::string_view text = list_.text(t);
    if (text.empty()) continue;
    ++checked;
    EXPECT_GE(t.box.x, 0) << text;
    if (t.align == Align::kLeft) {
      EXPECT_LE(t.box.x + measure_.Width(text, t.font), 1024 + 1) << text;
    }
    bool inside = false;
    for (const LanePlace& lane : state().layout.lanes)
      inside |= lane.visible && t.box.y >= lane.top() - 1 && t.box.bottom() <= lane.bottom() + 1;
    EXPECT_TRUE(inside) << text << " from " << t.box.y << " to " << t.box.bottom();
  }
  EXPECT_GT(checked, 10);
}

TEST_F(CanvasTest, HitTestFindsDrawnBlocks) {
  const trace::AllocationTable& a = trace_->allocations;
  int checked = 0;
  for (uint32_t i = 0; i < a.size(); i += 3) {
    Rect r = BlockRectOf(state(), {i});
    if (r.w < 3 || r.h < 0.5) continue;
    Hit hit = model_.HitTest(r.x + r.w / 2, r.y + r.h / 2);
    ASSERT_EQ(hit.kind, HitKind::kAllocation);
    ASSERT_EQ(hit.allocation, trace::AllocationId{i});
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

TEST_F(CanvasTest, HitTestFindsDrawnSlices) {
  const trace::SliceTable& t = trace_->slices;
  int checked = 0;
  for (uint32_t i = 0; i < t.size(); ++i) {
    if (t.kind[i] != trace::SliceKind::kModule && t.kind[i] != trace::SliceKind::kStep) continue;
    Rect r = SliceRectOf(state(), i);
    if (r.w < 3) continue;
    Hit hit = model_.HitTest(r.x + r.w / 2, r.y + r.h / 2);
    ASSERT_EQ(hit.kind, HitKind::kSlice);
    ASSERT_EQ(hit.slice, i);
    ++checked;
  }
  EXPECT_GT(checked, 5);
}

TEST_F(CanvasTest, HitInMemoryLaneReturnsTheCategory) {
  const Rect& body = Body("memory");
  Hit low = model_.HitTest(body.x + body.w * 0.4, body.bottom() - 2);
  EXPECT_EQ(low.kind, HitKind::kMemory);
  EXPECT_EQ(low.category, trace::Category::kParameter);
  Hit high = model_.HitTest(body.x + body.w * 0.4, body.y + 1);
  EXPECT_FALSE(high.category.has_value());
}

TEST_F(CanvasTest, ClickSelectsAndEscapeClears) {
  trace::AllocationId id = SomeBlock();
  ASSERT_TRUE(id.valid());
  Rect r = BlockRectOf(state(), id);
  Click(r.x + r.w / 2, r.y + r.h / 2);
  EXPECT_EQ(state().selection, id);
  EXPECT_TRUE(model_.TakeChanges().selection);
  DrawList overlay;
  model_.BuildOverlay(measure_, &overlay);
  EXPECT_GE(overlay.boxes().size(), 2u) << "an outline and its halo";
  model_.KeyPress(Key::kEscape, false, 0);
  EXPECT_FALSE(state().selection.valid());
  EXPECT_TRUE(model_.TakeChanges().selection);
}

TEST_F(CanvasTest, DragSelectsARange) {
  const Rect& body = Body("memory");
  double y = body.y + 30;
  model_.Press({.x = 200, .y = y, .button = Button::kLeft}, 0);
  model_.Move({.x = 202, .y = y}, 0);
  EXPECT_FALSE(state().range) << "that is still a click";
  model_.Move({.x = 500, .y = y}, 0);
  model_.Move({.x = 600, .y = y}, 0);
  model_.Release({.x = 600, .y = y, .button = Button::kLeft}, 0);
  ASSERT_TRUE(state().range);
  EXPECT_NEAR(state().range->begin, state().viewport.ToTime(200), 1e-3);
  EXPECT_NEAR(state().range->end, state().viewport.ToTime(600), 1e-3);
  EXPECT_TRUE(model_.TakeChanges().range);
  model_.KeyPress(Key::kZoomSelection, false, 0);
  EXPECT_NEAR(state().range->width() / state().viewport.view().width(), 0.8, 1e-6);
  // If the mouse is dragged to the left and out of the window, the range must begin with the view.
  model_.Press({.x = 600, .y = y, .button = Button::kLeft}, 0);
  model_.Move({.x = -5000, .y = y}, 0);
  model_.Release({.x = -5000, .y = y, .button = Button::kLeft}, 0);
  EXPECT_NEAR(state().range->begin, state().viewport.view().begin, 1e-3);
}

TEST_F(CanvasTest, CtrlDragZoomsToTheTimeRange) {
  const double y = Body("memory").y + 30;
  const Span all = state().viewport.view();
  const Span wanted{state().viewport.ToTime(300), state().viewport.ToTime(500)};
  model_.SetRange(Span{wanted.begin, all.end});
  const auto range = state().range;
  model_.TakeChanges();
  const auto drag = [&] {
    model_.Press({.x = 500, .y = y, .button = Button::kLeft, .ctrl = true}, 0);
    model_.Move({.x = 300, .y = y, .ctrl = true}, 0);
  };
  drag();
  ASSERT_TRUE(state().zoom_range);
  EXPECT_NEAR(state().zoom_range->begin, wanted.begin, 1e-3);
  EXPECT_EQ(state().viewport.view(), all) << "the view changes on release";
  model_.Release({.x = 300, .y = y, .button = Button::kLeft, .ctrl = true}, 0);
  EXPECT_NEAR(state().viewport.view().begin, wanted.begin, 1);
  EXPECT_NEAR(state().viewport.view().end, wanted.end, 1);
  EXPECT_FALSE(state().zoom_range);
  EXPECT_EQ(state().range, range) << "the selected range stays";
  EXPECT_FALSE(model_.TakeChanges().range);
  model_.KeyPress(Key::kUndo, false, 0);
  EXPECT_EQ(state().viewport.view(), all);
  // Esc cancels the drag.
  drag();
  model_.KeyPress(Key::kEscape, false, 0);
  model_.Release({.x = 300, .y = y, .button = Button::kLeft}, 0);
  EXPECT_EQ(state().viewport.view(), all);
  EXPECT_EQ(state().range, range);
  // Pressing and releasing without a drag is a click.
  Click(300, y);
  EXPECT_TRUE(state().cursor);
}

TEST_F(CanvasTest, ShiftDragAndMiddleDragPan) {
  model_.KeyPress(Key::kZoomIn, true, 0);
  Span before = state().viewport.view();
  double y = Body("memory").y + 30;
  model_.Press({.x = 600, .y = y, .button = Button::kLeft, .shift = true}, 0);
  model_.Move({.x = 500, .y = y, .shift = true}, 0);
  model_.Release({.x = 500, .y = y, .button = Button::kLeft}, 0);
  EXPECT_NEAR(state().viewport.view().begin - before.begin, 100 * state().viewport.ns_per_px(), 1);
  EXPECT_FALSE(state().range);
  model_.Press({.x = 500, .y = y, .button = Button::kMiddle}, 0);
  model_.Move({.x = 600, .y = y}, 0);
  model_.Release({.x = 600, .y = y, .button = Button::kMiddle}, 0);
  EXPECT_NEAR(state().viewport.view().begin, before.begin, 1);
}

TEST_F(CanvasTest, WheelZoomsAtTheMouseAsOneUndoStep) {
  double time = state().viewport.ToTime(400);
  Span all = state().viewport.view();
  for (int i = 0; i < 5; ++i) model_.Wheel({.x = 400, .y = 300, .dy = 120}, i * 50.0);
  EXPECT_NEAR(state().viewport.ToX(time), 400, 1e-3);
  EXPECT_NEAR(all.width() / state().viewport.view().width(), std::pow(1.25, 5), 1e-3);
  EXPECT_TRUE(model_.TakeChanges().view);
  model_.KeyPress(Key::kUndo, false, 0);
  EXPECT_EQ(state().viewport.view(), all);
  model_.KeyPress(Key::kRedo, false, 0);
  EXPECT_NEAR(state().viewport.ToX(time), 400, 1e-3);
}

TEST_F(CanvasTest, TouchpadNeverMixesZoomAndPan) {
  model_.KeyPress(Key::kZoomIn, true, 0);
  double width = state().viewport.view().width();
  model_.Wheel({.x = 400, .y = 300, .dx = 6, .dy = 1, .pixels = true, .begins = true}, 0);
  for (int i = 0; i < 10; ++i) {
    model_.Wheel({.x = 400, .y = 300, .dx = 8, .dy = 5, .pixels = true}, i * 10.0);
  }
  EXPECT_NEAR(state().viewport.view().width(), width, 1e-3) << "a pan does not zoom";
  double begin = state().viewport.view().begin;
  model_.Wheel({.x = 12, .y = 300, .dx = 0, .dy = 9, .pixels = true, .begins = true}, 2000);
  model_.Wheel({.x = 12, .y = 300, .dx = 30, .dy = 9, .pixels = true}, 2010);
  EXPECT_LT(state().viewport.view().width(), width);
  EXPECT_NEAR(state().viewport.view().begin, begin, width * 1e-6) << "a zoom does not pan";
}

TEST_F(CanvasTest, DragInOverviewMovesTheView) {
  model_.KeyPress(Key::kZoomIn, true, 0);
  double width = state().viewport.view().width();
  const Rect box = Body("overview");
  model_.Press({.x = box.x + box.w * 0.8, .y = box.y + 5, .button = Button::kLeft}, 0);
  double middle = (state().viewport.view().begin + state().viewport.view().end) / 2;
  EXPECT_NEAR(middle, data_->duration_ns() * 0.8, data_->duration_ns() * 0.01);
  model_.Move({.x = box.x + box.w * 0.5, .y = box.y + 5}, 0);
  middle = (state().viewport.view().begin + state().viewport.view().end) / 2;
  EXPECT_NEAR(middle, data_->duration_ns() * 0.5, data_->duration_ns() * 0.01);
  EXPECT_NEAR(state().viewport.view().width(), width, 1);
  model_.Release({.x = box.x, .y = box.y + 5, .button = Button::kLeft}, 0);
  model_.DoubleClick({.x = box.x + 50, .y = box.y + 5, .button = Button::kLeft}, 0);
  EXPECT_TRUE(state().viewport.shows_all());
}

TEST_F(CanvasTest, DoubleClickZoomsToTheBlock) {
  trace::AllocationId id = SomeBlock();
  Rect r = BlockRectOf(state(), id);
  model_.DoubleClick({.x = r.x + r.w / 2, .y = r.y + r.h / 2, .button = Button::kLeft}, 0);
  EXPECT_EQ(state().selection, id);
  Rect now = BlockRectOf(state(), id);
  EXPECT_NEAR(now.w, state().viewport.width() * 0.8, state().viewport.width() * 0.15);
}

TEST_F(CanvasTest, ClickOnTitleFoldsItsLane) {
  Rect title = state().layout["blocks"].title;
  Click(title.x + 20, title.y + 5);
  EXPECT_TRUE(Body("blocks").empty());
  EXPECT_EQ(Draw().block_rects, 0u);
  title = state().layout["blocks"].title;
  Click(title.x + 20, title.y + 5);
  EXPECT_FALSE(Body("blocks").empty());
}

TEST_F(CanvasTest, AltWheelZoomsAddresses) {
  const Rect& body = Body("blocks");
  double y = body.y + body.h * 0.5;
  Hit before = model_.HitTest(400, y);
  model_.Wheel({.x = 400, .y = y, .dy = 480, .alt = true}, 0);
  EXPECT_GT(state().addresses.end, 0);
  Hit after = model_.HitTest(400, y);
  ASSERT_TRUE(before.offset && after.offset);
  double size = static_cast<double>(data_->address_axis().size());
  EXPECT_NEAR(static_cast<double>(*before.offset), static_cast<double>(*after.offset),
              size * 0.002);
  model_.Wheel({.x = 400, .y = y, .dy = -4800, .alt = true}, 0);
  EXPECT_EQ(state().addresses.end, 0);
}

TEST_F(CanvasTest, BlockTooltipShowsSizeCategoryAndLifetime) {
  trace::AllocationId id = SomeBlock();
  Rect r = BlockRectOf(state(), id);
  model_.Move({.x = r.x + r.w / 2, .y = r.y + r.h / 2}, 0);
  EXPECT_FALSE(state().tooltip) << "only after a rest";
  model_.ShowTooltip();
  Tooltip tip = MakeTooltip(state(), state().hover);
  const trace::AllocationTable& a = trace_->allocations;
  EXPECT_EQ(tip.title, trace_->String(a.module[id.value]));
  EXPECT_EQ(tip.subtitle, trace_->String(a.op[id.value]));
  auto value = [&](std::string_view label) {
    for (const TooltipRow& row : tip.rows) {
      if (row.label == label) return row.value;
    }
    return std::string("none");
  };
  EXPECT_EQ(value("requested"), FormatBytesExact(a.bytes[id.value]));
  EXPECT_EQ(value("block"), FormatBytesExact(a.bytes_rounded[id.value]));
  EXPECT_THAT(value("allocated"), HasSubstr("forward · step"));
  EXPECT_THAT(value("freed"), HasSubstr("backward"));
  EXPECT_EQ(value("lifetime"), FormatDuration(a.end_ns[id.value] - a.begin_ns[id.value]));
  EXPECT_THAT(value("category"), HasSubstr("Activation"));
  DrawList overlay;
  model_.BuildOverlay(measure_, &overlay);
  EXPECT_THAT(Texts(overlay), ::testing::Contains(std::string(tip.title)));
  model_.Move({.x = 3, .y = Body("steps").y + 3}, 0);
  EXPECT_FALSE(state().tooltip) << "hidden when the mouse leaves the block";
}

TEST_F(CanvasTest, HoverDoesNotTouchTheDataLayer) {
  Draw();
  for (double x = 20; x < 1000; x += 13) {
    for (double y = 5; y < 790; y += 17) {
      model_.Move({.x = x, .y = y}, 0);
      model_.ShowTooltip();
      ASSERT_FALSE(model_.data_dirty()) << x << ", " << y;
      DrawList overlay;
      model_.BuildOverlay(measure_, &overlay);
    }
  }
  model_.Leave();
  EXPECT_FALSE(model_.data_dirty());
}

TEST_F(CanvasTest, NewTraceAnimatesAndKeepsAxisAndSelection) {
  TimelineModel m;
  m.Resize(1024, 800, 1);
  m.SetData(data_, false, 0);
  m.BuildData(measure_, &list_);
  trace::AllocationId id = SomeBlock();
  m.Select(id);
  AllocationKey key = timeline::KeyOf(*trace_, id);
  uint64_t axis = m.state().axis.max;
  Span view = m.state().viewport.view();
  auto other = TimelineData::Build(testing::MakeSyntheticTrace(
      {.layers = 6, .steps = 2, .micro_batches = 2, .activation_share = 0.5, .speed = 0.9}));
  m.SetBaselineTrace(data_, "before");
  m.SetData(other, true, 1000);
  EXPECT_TRUE(m.animating());
  EXPECT_EQ(m.state().axis.max, axis);
  EXPECT_EQ(m.state().viewport.view(), view);
  EXPECT_EQ(timeline::KeyOf(other->trace(), m.state().selection).module, key.module);
  EXPECT_EQ(timeline::KeyOf(other->trace(), m.state().selection).occurrence, key.occurrence);
  SceneCounts counts = m.BuildData(measure_, &list_);
  EXPECT_TRUE(counts.baseline_shown);
  EXPECT_TRUE(m.Animate(1060));
  EXPECT_TRUE(m.data_dirty());
  EXPECT_FALSE(m.Animate(1200)) << "under 200 ms";
  m.BuildData(measure_, &list_);
  EXPECT_FALSE(m.Animate(5000));
  EXPECT_FALSE(m.data_dirty()) << "nothing moves any more";
  // If animations are off, the change must be immediate.
  m.SetAnimations(false);
  m.SetData(data_, true, 6000);
  EXPECT_FALSE(m.animating());
}

TEST_F(CanvasTest, AnimationStartsFromTheOldCurves) {
  TimelineModel m;
  m.Resize(1024, 800, 1);
  m.SetData(data_, false, 0);
  m.BuildData(measure_, &list_);
  auto edges_of = [&] {
    auto e = list_.edges(list_.stacks()[1]);
    return std::vector<float>(e.begin(), e.end());
  };
  std::vector<float> before = edges_of();
  m.SetData(TimelineData::Build(testing::MakeSyntheticTrace(
                {.layers = 6, .steps = 2, .micro_batches = 2, .activation_share = 0.3})),
            true, 1000);
  m.BuildData(measure_, &list_);
  EXPECT_EQ(edges_of(), before);
}

TEST_F(CanvasTest, DrawsDeviceLimitOnlyNearTheCurves) {
  EXPECT_FALSE(Draw().limit_shown);
  model_.SetDeviceLimit(data_->peak().reserved * 11 / 10);
  EXPECT_TRUE(Draw().limit_shown);
  EXPECT_GE(state().axis.max, state().device_limit);
  model_.SetDeviceLimit(data_->peak().reserved * 10);
  EXPECT_FALSE(Draw().limit_shown) << "a line far above would press the curves flat";
  model_.SetDeviceLimit(data_->peak().reserved / 2);
  EXPECT_TRUE(Draw().limit_shown) << "the curves exceed the limit";
}

TEST_F(CanvasTest, AnotherModelResetsViewAndCursor) {
  model_.KeyPress(Key::kZoomIn, true, 0);
  model_.SetCursor(1e6);
  model_.TakeChanges();
  auto t = std::make_shared<trace::Trace>(*testing::MakeSyntheticTrace({.layers = 2}));
  t->info.model.name = "another";
  model_.SetData(TimelineData::Build(t), true, 0);
  EXPECT_TRUE(state().viewport.shows_all());
  EXPECT_FALSE(state().cursor);
  EXPECT_FALSE(model_.animating());
}

TEST_F(CanvasTest, EmptyCanvasShowsHintsLoadingAndErrors) {
  model_.SetData(nullptr, false, 0);
  model_.SetEmptyText("No run yet", "Choose a model.\nOr open a file.");
  Draw();
  EXPECT_THAT(Texts(list_),
              ::testing::IsSupersetOf({"No run yet", "Choose a model.", "Or open a file."}));
  model_.SetStatus(Status::kLoading, "Reading a.trace", "", "", 0.25);
  Draw();
  EXPECT_THAT(Texts(list_), ::testing::IsSupersetOf({"Reading a.trace", "25 %"}));
  model_.SetStatus(Status::kFailed, "Could not read", "bad checksum", "Try another", -1);
  Draw();
  EXPECT_THAT(Texts(list_),
              ::testing::IsSupersetOf({"Could not read", "bad checksum", "Try another"}));
  // On an empty canvas, input must do nothing.
  Click(100, 300);
  model_.Wheel({.x = 1, .y = 1, .dy = 120}, 0);
  EXPECT_FALSE(model_.KeyPress(Key::kZoomIn, false, 0));
  model_.Fit(0);
  model_.JumpToPeak(0);
  model_.ZoomToSelection(0);
}

TEST(EmptyTraceTest, DrawsTracesWithNoOrOneEvent) {
  FixedMeasure measure;
  DrawList list;
  for (int events : {0, 1}) {
    trace::TraceBuilder builder;
    if (events) {
      trace::Event e;
      e.kind = trace::EventKind::kStepBegin;
      ASSERT_TRUE(builder.AddEvents({&e, 1}).ok());
    }
    TimelineModel m;
    m.Resize(800, 600, 1.5f);
    m.SetData(TimelineData::Build(builder.Finish(true, "")), false, 0);
    m.BuildData(measure, &list);
    m.Move({.x = 300, .y = 300}, 0);
    m.ShowTooltip();
    m.BuildOverlay(measure, &list);
    m.KeyPress(Key::kPeak, false, 0);
    m.KeyPress(Key::kFit, false, 0);
  }
}

TEST(TinyWindowTest, DrawsAtAnyWindowSize) {
  FixedMeasure measure;
  DrawList list;
  TimelineModel m;
  m.SetData(TimelineData::Build(testing::MakeSyntheticTrace({.layers = 2})), false, 0);
  for (float w : {1.0f, 30.0f, 200.0f, 5000.0f}) {
    for (float h : {1.0f, 50.0f, 150.0f, 3000.0f}) {
      m.Resize(w, h, 1.25);
      m.BuildData(measure, &list);
      m.Move({.x = w / 2, .y = h / 2}, 0);
      m.ShowTooltip();
      m.BuildOverlay(measure, &list);
    }
  }
}

TEST_F(CanvasTest, EqualBaselineShowsNoDifference) {
  model_.SetBaselineTrace(TimelineData::Build(testing::MakeSyntheticTrace(
                              {.layers = 6, .steps = 2, .micro_batches = 2})),
                          "baseline");
  for (int i = 0; i < 40; ++i) {
    const SceneCounts counts = Draw();
    ASSERT_TRUE(counts.baseline_shown);
    ASSERT_EQ(counts.difference_highest, 0) << i;
    ASSERT_EQ(counts.difference_lowest, 0) << i;
    ASSERT_EQ(counts.difference_end, counts.columns - 1);  // all columns except the additional one
    model_.Move({.x = 200.0 + 15 * i, .y = 300}, 0);
    model_.ZoomBy(1.3, 0);
  }
}

TEST_F(CanvasTest, DifferenceEndsWithAShorterBaseline) {
  auto longer = testing::MakeSyntheticTrace({.layers = 6, .steps = 5, .micro_batches = 2});
  model_.SetData(TimelineData::Build(longer), false, 0);
  model_.SetBaselineTrace(data_, "baseline b.trace");
  const SceneCounts counts = Draw();
  EXPECT_LT(counts.difference_end, counts.columns / 2 + 2);
  EXPECT_GT(counts.difference_end, counts.columns / 3);
  // The runs have equal steps, but one has more. The difference must be small until the other ends.
  EXPECT_LT(counts.difference_highest, static_cast<double>(data_->peak().allocated) / 20);
  EXPECT_THAT(Texts(list_), ::testing::Contains(HasSubstr("the other run ends earlier")));
  EXPECT_THAT(Texts(list_), ::testing::Contains("baseline b.trace ends here"));
  Hit hit;
  hit.kind = HitKind::kMemory;
  hit.time = state().data->duration_ns() * 0.9;
  bool end_shown = false;
  for (const auto& row : MakeTooltip(state(), hit).rows) {
    EXPECT_NE(row.label, "difference");
    end_shown |= row.value == "has already ended";
  }
  EXPECT_TRUE(end_shown);
}

TEST_F(CanvasTest, ByteAxisFitsTraceAndBaseline) {
  const uint64_t own = state().axis.max;
  auto large = TimelineData::Build(
      testing::MakeSyntheticTrace({.layers = 6, .steps = 2, .hidden_bytes = uint64_t{200} << 20}));
  model_.SetBaselineTrace(large, "baseline of another model");
  EXPECT_GE(state().axis.max, large->peak().allocated) << "both are drawn on one axis";
  model_.SetBaselineTrace(nullptr, "");
  EXPECT_EQ(state().axis.max, own);
  // If a small recording is opened after a large run, it must get a scale of its own.
  model_.SetData(large, false, 0);
  auto small = std::make_shared<trace::Trace>(*trace_);
  small->info.title = "another file";
  model_.SetData(TimelineData::Build(small), false, 0);
  EXPECT_EQ(state().axis.max, own);
}

}  // namespace
}  // namespace vramscope::ui::timeline
