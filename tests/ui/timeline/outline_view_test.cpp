// While a file is read, a preview is drawn from its index. Compares this preview with the contents
// of the file. Nothing in the preview may be clickable.
#include "ui/timeline/model/outline_view.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/outline.h"
#include "profiler/trace/writer.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/timeline_model.h"

namespace vramscope::ui::timeline {
namespace {

class FixedWidth : public TextMeasure {
 public:
  float Width(std::string_view utf8, Font) const override {
    return static_cast<float>(utf8.size()) * 7;
  }
};

class OutlineView : public ::testing::Test {
 protected:
  OutlineView() {
    const std::string path =
        std::filesystem::temp_directory_path() / ("outline-view-" + std::to_string(::getpid()));
    EXPECT_TRUE(trace::WriteTraceFile(*trace_, path, {}).ok());
    auto outline = trace::ReadOutline(path);
    std::filesystem::remove(path);
    EXPECT_TRUE(outline.ok()) << outline.status();
    if (outline.ok()) outline_ = std::make_shared<const trace::Outline>(*std::move(outline));
    model_.SetAnimations(false);
    model_.Resize(1000, 700, 1);
    model_.SetStatus(Status::kLoading, "opening a.trace", "", "", 0.25);
  }
  bool ShowsText(const std::string& text) const {
    return std::ranges::any_of(list_.texts(), [&](const TextPrim& t) {
      return list_.text(t).find(text) != std::string_view::npos;
    });
  }

  const std::shared_ptr<const trace::Trace> trace_ =
      testing::MakeSyntheticTrace({.layers = 24, .steps = 60, .ops_per_module = 4});
  std::shared_ptr<const trace::Outline> outline_;
  TimelineModel model_;
  FixedWidth measure_;
  DrawList list_;
};

TEST_F(OutlineView, ShowsCurveAndPhasesOfTheFile) {
  ASSERT_GT(outline_->batches.size(), 2u);
  model_.SetOutline(outline_);
  ASSERT_TRUE(model_.data_dirty());
  model_.BuildData(measure_, &list_);
  ASSERT_EQ(list_.stacks().size(), 1u);
  const StackPrim& stack = list_.stacks()[0];
  const auto edges = list_.edges(stack);
  const Rect plot = OutlinePlot(model_.state());
  // The preview's curve must never be below the allocated bytes, and must have the same maximum.
  const analysis::MemoryCurves curves = analysis::ComputeCurves(*trace_);
  const uint64_t peak = *std::max_element(curves.allocated.begin(), curves.allocated.end());
  EXPECT_EQ(outline_->peak_allocated(), peak);
  const float* top = edges.data() + stack.columns;
  const float highest = plot.bottom() - *std::min_element(top, top + stack.columns);
  const double per_px = static_cast<double>(peak) / highest;
  const double length = static_cast<double>(trace_->end_ns() - trace_->begin_ns());
  for (size_t i = 0; i < curves.size(); i += 97) {
    const double at = static_cast<double>(curves.time_ns[i] - trace_->begin_ns()) / length;
    const auto column = std::min(static_cast<uint32_t>(at * stack.columns), stack.columns - 1);
    ASSERT_GE((plot.bottom() - top[column]) * per_px * 1.001,
              static_cast<double>(curves.allocated[i]))
        << i;
  }
  EXPECT_TRUE(ShowsText("25 % read"));
  EXPECT_TRUE(ShowsText("opening a.trace"));
  EXPECT_GE(outline_->steps_and_phases.size(), 60u * 4);
  const auto phase = model_.state().theme.phase(trace::Phase::kBackward).argb();
  EXPECT_TRUE(
      std::ranges::any_of(list_.fills(), [&](const FillRect& r) { return r.argb == phase; }));
}

TEST_F(OutlineView, IgnoresInputUntilTheTraceIsLoaded) {
  model_.SetData(TimelineData::Build(trace_), false, 0);
  model_.BuildData(measure_, &list_);
  const auto view = model_.state().viewport.view();
  model_.SetOutline(outline_);
  model_.Wheel({.x = 500, .y = 300, .dy = 120}, 0);
  model_.Press({.x = 400, .y = 300, .button = Button::kLeft}, 0);
  model_.Move({.x = 600, .y = 300}, 0);
  model_.Release({.x = 600, .y = 300, .button = Button::kLeft}, 0);
  model_.DoubleClick({.x = 600, .y = 300, .button = Button::kLeft}, 0);
  model_.KeyPress(Key::kZoomIn, false, 0);
  EXPECT_EQ(model_.state().viewport.view(), view);
  EXPECT_FALSE(model_.state().range.has_value());
  EXPECT_FALSE(model_.state().selection.valid());
  EXPECT_EQ(model_.HitTest(500, 300).kind, HitKind::kNone);
  model_.BuildData(measure_, &list_);
  EXPECT_TRUE(ShowsText("25 % read"));
  // The trace, when loaded, must replace the preview.
  model_.SetData(TimelineData::Build(trace_), false, 0);
  EXPECT_EQ(model_.state().outline, nullptr);
  model_.BuildData(measure_, &list_);
  EXPECT_FALSE(ShowsText("25 % read"));
}

// An index may have no batches, times or steps, and the canvas may have no space.
TEST_F(OutlineView, AcceptsEmptyAndMinimalOutlines) {
  trace::Outline nothing;
  for (const float height : {0.0f, 60.0f, 700.0f}) {
    model_.Resize(300, height, 1);
    model_.SetOutline(std::make_shared<const trace::Outline>(nothing));
    model_.BuildData(measure_, &list_);
    EXPECT_TRUE(list_.stacks().empty());
    trace::Outline one = *outline_;
    one.info.has_times = false;
    one.steps_and_phases.clear();
    one.batches.resize(1);
    one.batches[0].end_ns = one.batches[0].begin_ns;
    model_.SetOutline(std::make_shared<const trace::Outline>(one));
    model_.BuildData(measure_, &list_);
    EXPECT_TRUE(ShowsText(" events"));
    // The curve must be drawn only if there is space for it.
    ASSERT_EQ(list_.stacks().size(), height > 100 ? 1u : 0u) << height;
    if (list_.stacks().empty()) continue;
    const Rect plot = OutlinePlot(model_.state());
    for (const float edge : list_.edges(list_.stacks()[0])) {
      EXPECT_GE(edge, plot.y - 1);
      EXPECT_LE(edge, plot.bottom() + 1);
    }
  }
}

}  // namespace
}  // namespace vramscope::ui::timeline
