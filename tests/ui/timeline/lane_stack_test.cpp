// Tests the positions of lanes: shortened lanes, scrolling, and the user's arrangement. Some tests
// use the stack directly, with lanes that draw nothing. Others control the timeline's model with
// mouse and keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/model/tooltip.h"

namespace vramscope::ui::timeline {
namespace {

using ::testing::ElementsAre;

class PlainLane : public Lane {
 public:
  PlainLane(std::string key, LaneWants wants) : key_(std::move(key)), wants_(std::move(wants)) {}
  std::string_view key() const override { return key_; }
  std::string Name(const CanvasState&) const override { return key_; }
  LaneWants Wants(const CanvasState&) const override { return wants_; }
  void Draw(const LaneDrawing&) const override {}

 private:
  std::string key_;
  LaneWants wants_;
};

// A stack with the same lanes as the canvas, some of which can be shortened, and ten streams.
class LaneStackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::unique_ptr<const Lane>> lanes;
    const auto add = [&](std::string key, LaneWants wants) {
      lanes.push_back(std::make_unique<PlainLane>(std::move(key), std::move(wants)));
    };
    add("ruler", {.rows = 1, .row_height = 22});
    add("phases", {.rows = 1, .row_height = 20, .gap = 2});
    add("memory", {.rows = 1, .title = 24, .share = 0.6f, .least = 110});
    add("blocks",
        {.rows = 1, .title = 24, .share = 0.4f, .least = 70, .concessions = {{.until = 0.9f}}});
    add("ops", {.rows = 5,
                .at_first = 3,
                .row_height = 13,
                .title = 24,
                .concessions = {{.until = 1.6f, .rows = 1}, {.until = 1.3f}}});
    for (int i = 0; i < 10; ++i)
      add("stream/0/" + std::to_string(i),
          {.rows = 1, .row_height = 18, .title = 24, .concessions = {{.until = 1.3f}}});
    add("nothing", {.rows = 0, .row_height = 18, .title = 24});
    stack_.SetLanes(std::move(lanes));
  }
  const Layout& Arrange(float height) { return layout_ = stack_.Arrange(state_, 800, height); }
  std::vector<std::string> Visible() {
    std::vector<std::string> keys;
    for (const LanePlace& p : layout_.lanes)
      if (p.visible) keys.emplace_back(p.lane->key());
    return keys;
  }

  CanvasState state_;
  LaneStack stack_;
  Layout layout_;
};

TEST_F(LaneStackTest, LanesDoNotOverlapAndAllCanBeReached) {
  for (const float height : {120.0f, 200.0f, 300.0f, 500.0f, 760.0f, 1000.0f, 2000.0f}) {
    for (const float scroll : {0.0f, 90.0f, 1e9f}) {
      stack_.ScrollTo(scroll);
      const Layout& l = Arrange(height);
      float y = 0, end = 0;
      for (const LanePlace& p : l.lanes) {
        if (!p.visible) continue;
        if (p.scrolls && y < l.scroll_top) y = l.scroll_top - l.scroll;
        ASSERT_GE(p.top(), y - 0.01) << p.lane->key() << " at " << height;
        y = end = p.bottom();
        ASSERT_NEAR(p.row_height * static_cast<float>(p.rows), p.body.h, 0.01);
      }
      ASSERT_LE(l.data_bottom(), height);
      if (scroll > 1e6) {
        ASSERT_LE(end, height) << "the last lane can be seen whole";
      }
      ASSERT_EQ(l.scroll_most > 0, !l.scroll_thumb.empty());
      ASSERT_FALSE(l["nothing"].visible);
    }
  }
  EXPECT_EQ(Arrange(2000).scroll_most, 0) << "nothing to scroll where all fits";
}

TEST_F(LaneStackTest, HeaderStaysWhileTheRestScrolls) {
  Arrange(400);
  const Rect ruler = layout_["ruler"].body;
  const float memory = layout_["memory"].top();
  stack_.ScrollTo(100);
  Arrange(400);
  EXPECT_EQ(layout_["ruler"].body, ruler);
  EXPECT_EQ(layout_["memory"].top(), memory - 100);
  EXPECT_EQ(layout_.At(ruler.y + 3)->lane->key(), "ruler");
  const LanePlace* under = layout_.At(layout_.scroll_top + 1);
  EXPECT_EQ(under->lane->key(), "memory") << "lanes behind the header cannot be hit";
  EXPECT_LE(layout_["memory"].view().h, layout_["memory"].body.h - 70);
}

TEST_F(LaneStackTest, SettingsFoldPinHideMoveAndResize) {
  Arrange(700);
  ASSERT_TRUE(stack_.Change(LaneAction::kFold, "ops", layout_));
  Arrange(700);
  EXPECT_TRUE(layout_["ops"].folded);
  EXPECT_EQ(layout_["ops"].body.h, 0);
  EXPECT_EQ(layout_["ops"].title.h, 24);

  ASSERT_TRUE(stack_.Change(LaneAction::kPin, "stream/0/7", layout_));
  ASSERT_TRUE(stack_.Change(LaneAction::kHide, "stream/0/1", layout_));
  Arrange(700);
  EXPECT_FALSE(layout_["stream/0/1"].visible);
  EXPECT_FALSE(layout_["stream/0/7"].scrolls);
  stack_.ScrollTo(200);
  Arrange(700);
  EXPECT_EQ(layout_["stream/0/7"].top(), layout_["phases"].bottom() + 2);

  ASSERT_TRUE(stack_.Change(LaneAction::kMoveDown, "memory", layout_));
  ASSERT_TRUE(stack_.Change(LaneAction::kMoveUp, "stream/0/9", layout_));
  Arrange(700);
  EXPECT_THAT(Visible(), ElementsAre("ruler", "phases", "stream/0/7", "blocks", "memory", "ops",
                                     "stream/0/0", "stream/0/2", "stream/0/3", "stream/0/4",
                                     "stream/0/5", "stream/0/6", "stream/0/9", "stream/0/8"));
  EXPECT_FALSE(stack_.Change(LaneAction::kMoveUp, "blocks", layout_))
      << "it is the first lane below the pinned ones";
  EXPECT_FALSE(stack_.Change(LaneAction::kMoveUp, "stream/0/7", layout_))
      << "it is the only pinned lane";
  EXPECT_FALSE(stack_.Change(LaneAction::kFold, "ruler", layout_))
      << "header lanes cannot be folded";

  stack_.SetHeight("memory", 333, layout_);
  Arrange(700);
  EXPECT_EQ(layout_["memory"].body.h, 333);
  ASSERT_TRUE(stack_.Change(LaneAction::kReset, "", layout_));
  EXPECT_TRUE(stack_.settings()->empty());
}

TEST_F(LaneStackTest, ResizedLaneEndsAtTheDraggedEdge) {
  Arrange(900);
  const float memory = layout_["memory"].body.h, bottom = layout_["blocks"].body.bottom();
  stack_.SetHeight("blocks", layout_["blocks"].body.h + 60, layout_);
  Arrange(900);
  EXPECT_NEAR(layout_["memory"].body.h, memory, 0.51) << "the lane above keeps its height";
  EXPECT_NEAR(layout_["blocks"].body.bottom(), bottom + 60, 1.1);
}

TEST_F(LaneStackTest, TallerLaneShowsMoreRows) {
  Arrange(1200);
  EXPECT_EQ(layout_["ops"].rows, 3);
  stack_.SetHeight("ops", 60, layout_);
  EXPECT_EQ(Arrange(1200)["ops"].rows, 4);
  stack_.SetHeight("ops", 200, layout_);
  EXPECT_EQ(Arrange(1200)["ops"].rows, 5);
  EXPECT_FLOAT_EQ(layout_["ops"].row_height, 40);
}

TEST_F(LaneStackTest, PinnedLanesLeaveRoomToScroll) {
  Arrange(500);
  for (const LanePlace& p : Layout(layout_).lanes)
    if (!p.title.empty()) stack_.Change(LaneAction::kPin, p.lane->key(), layout_);
  Arrange(500);
  EXPECT_LE(layout_.scroll_top, 420);
  EXPECT_GT(layout_.scroll_most, 0);
}

TEST(LaneSettingsTest, SurvivesTextRoundTrip) {
  LaneSettings s;
  s.lanes["blocks"] = {.folded = true, .height = 120};
  s.lanes["stream/0/7"] = {.pinned = true, .hidden = true};
  s.order = {"ops", "memory", "stream/0/7"};
  EXPECT_EQ(LaneSettings::FromText(s.ToText()), s);
  EXPECT_TRUE(LaneSettings::FromText("").empty());
}

TEST(LaneSettingsTest, SkipsInvalidLinesAndClampsValues) {
  EXPECT_TRUE(
      LaneSettings::FromText("lane\nlane\t\tf\t0\nlane\tx\tf\tmuch\nother\tx\nlane\tx\tf").empty());
  EXPECT_EQ(LaneSettings::FromText("lane\tx\t\t1000000000").Of("x").height, 4000);
  EXPECT_EQ(LaneSettings::FromText("lane\tx\t\t-7").Of("x").height, 0);
  EXPECT_TRUE(LaneSettings::FromText("lane\t" + std::string(1000, 'x') + "\tf\t0").empty());
  std::string many;
  for (int i = 0; i < 5000; ++i)
    many += "lane\tl" + std::to_string(i) + "\tf\t0\norder\tl" + std::to_string(i) + "\n";
  const LaneSettings s = LaneSettings::FromText(many);
  EXPECT_LE(s.lanes.size(), 512u);
  EXPECT_LE(s.order.size(), 512u);
  EXPECT_EQ(LaneSettings::FromText("order\ta\norder\ta\n").order.size(), 1u);
}

// The model with real lanes, controlled by mouse and keys.
class StackInputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_.SetAnimations(false);
    model_.Resize(1024, 800, 1);
    trace_ = testing::MakeSyntheticTrace({.layers = 6, .steps = 2, .micro_batches = 2});
    model_.SetData(TimelineData::Build(trace_), false, 0);
  }
  const LanePlace& At(std::string_view key) const { return model_.state().layout[key]; }
  void Drag(double x, double y, double to_y) {
    model_.Press({.x = x, .y = y, .button = Button::kLeft}, 0);
    for (int i = 1; i <= 4; ++i)
      model_.Move({.x = x, .y = y + (to_y - y) * i / 4, .button = Button::kLeft}, 0);
    model_.Release({.x = x, .y = to_y, .button = Button::kLeft}, 0);
  }
  std::vector<std::string> Titled() const {
    std::vector<std::string> keys;
    for (const LanePlace& p : model_.state().layout.lanes)
      if (p.visible && !p.title.empty()) keys.emplace_back(p.lane->key());
    return keys;
  }

  TimelineModel model_;
  std::shared_ptr<const trace::Trace> trace_;
};

TEST_F(StackInputTest, LanesStartInDefaultOrder) {
  EXPECT_THAT(Titled(), ElementsAre("memory", "blocks", "modules", "ops"));
  EXPECT_EQ(model_.state().layout.scroll_most, 0);
  for (const LanePlace& p : model_.state().layout.lanes)
    EXPECT_EQ(p.in_sight(), p.visible) << p.lane->key();
}

TEST_F(StackInputTest, ShortCanvasKeepsPhasesMemoryAndBlocks) {
  model_.SetBaselineTrace(TimelineData::Build(trace_), "before");
  EXPECT_TRUE(At("difference").in_sight());
  for (const float height : {300.0f, 320.0f, 360.0f}) {
    model_.Resize(460, height, 1);
    EXPECT_TRUE(At("phases").in_sight()) << height;
    EXPECT_GE(At("memory").view().h, 50) << height;
    EXPECT_GE(At("blocks").view().h, 36) << height;
    EXPECT_FALSE(At("difference").visible) << height;
    EXPECT_FALSE(At("ops").in_sight());
    EXPECT_GT(model_.state().layout.scroll_most, 0) << "the others are scrolled to";
  }
}

TEST_F(StackInputTest, DragOfLowerEdgeResizesLane) {
  const Rect body = At("memory").body;
  EXPECT_EQ(model_.HitTest(500, body.bottom() + 1).kind, HitKind::kLowerEdge);
  Drag(500, body.bottom() + 1, body.bottom() + 41);
  EXPECT_NEAR(At("memory").body.h, body.h + 40, 1);
  model_.UndoView(0);
  EXPECT_EQ(At("memory").body, body) << "one drag is one undo step";
  model_.RedoView(0);
  EXPECT_NEAR(At("memory").body.h, body.h + 40, 1);
  model_.DoubleClick({.x = 500, .y = At("memory").body.bottom() + 1, .button = Button::kLeft}, 0);
  EXPECT_EQ(At("memory").body, body);
}

TEST_F(StackInputTest, DragOfTitleMovesLane) {
  Drag(300, At("ops").title.y + 10, At("memory").title.y + 2);
  EXPECT_THAT(Titled(), ElementsAre("ops", "memory", "blocks", "modules"));
  EXPECT_TRUE(model_.TakeChanges().lanes);
  EXPECT_FALSE(model_.state().drop_at);
  model_.UndoView(0);
  EXPECT_THAT(Titled(), ElementsAre("memory", "blocks", "modules", "ops"));
}

TEST_F(StackInputTest, KeysActOnTheLaneUnderTheMouse) {
  EXPECT_FALSE(model_.KeyPress(Key::kHideLane, false, 0)) << "no lane is under the mouse";
  model_.Move({.x = 300, .y = At("modules").title.y + 5}, 0);
  EXPECT_TRUE(model_.KeyPress(Key::kPinLane, false, 0));
  EXPECT_TRUE(At("modules").pinned);
  EXPECT_EQ(Titled()[0], "modules");
  model_.Move({.x = 300, .y = At("ops").title.y + 5}, 0);
  EXPECT_TRUE(model_.KeyPress(Key::kHideLane, false, 0));
  EXPECT_FALSE(At("ops").visible);
  EXPECT_THAT(model_.HiddenLanes(), ElementsAre(std::pair{"ops", "ops"}));
  EXPECT_TRUE(model_.ChangeLane(LaneAction::kShowAll, ""));
  EXPECT_TRUE(At("ops").visible);
  model_.Move({.x = 300, .y = At("ruler").body.y + 5}, 0);
  EXPECT_FALSE(model_.KeyPress(Key::kPinLane, false, 0)) << "header lanes cannot be pinned";
}

TEST_F(StackInputTest, KeyboardReachesEveryLane) {
  for (const std::string& key : Titled()) {
    EXPECT_TRUE(model_.KeyPress(Key::kNextLane, false, 0));
    EXPECT_EQ(model_.state().current_lane, key);
    EXPECT_TRUE(model_.KeyPress(Key::kFoldLane, false, 0));
    EXPECT_TRUE(At(key).folded) << key;
  }
  EXPECT_TRUE(model_.KeyPress(Key::kMoveLaneUp, false, 0));
  EXPECT_THAT(Titled(), ElementsAre("memory", "blocks", "ops", "modules"));
  model_.Move({.x = 300, .y = 300}, 0);
  EXPECT_TRUE(model_.state().current_lane.empty()) << "the mouse chooses the lane again";
}

TEST_F(StackInputTest, StackScrollsWhenItDoesNotFit) {
  model_.Resize(1024, 300, 1);
  const Layout before = model_.state().layout;
  ASSERT_GT(before.scroll_most, 60);
  const double view = model_.state().viewport.view().width();
  model_.Wheel({.x = 300, .y = before["memory"].title.y + 5, .dy = -120}, 0);
  EXPECT_EQ(model_.state().layout.scroll, 60);
  EXPECT_EQ(model_.state().viewport.view().width(), view) << "over a title it does not zoom";
  model_.KeyPress(Key::kScrollDown, false, 0);
  EXPECT_GT(model_.state().layout.scroll, 60);
  EXPECT_TRUE(At("modules").in_sight());
  model_.KeyPress(Key::kScrollUp, false, 0);
  model_.KeyPress(Key::kScrollUp, false, 0);
  EXPECT_EQ(model_.state().layout.scroll, 0);
  const Rect thumb = before.scroll_thumb;
  Drag(thumb.x + 2, thumb.y + 5, 299);
  EXPECT_EQ(model_.state().layout.scroll, before.scroll_most);
  EXPECT_TRUE(At("ops").in_sight());
  model_.Press({.x = 500, .y = 200, .button = Button::kMiddle}, 0);
  model_.Move({.x = 500, .y = 240, .button = Button::kMiddle}, 0);
  EXPECT_EQ(model_.state().layout.scroll, before.scroll_most - 40) << "a pan goes both ways";
  model_.Release({.x = 500, .y = 240, .button = Button::kMiddle}, 0);
}

TEST_F(StackInputTest, SettingsApplyToTheNextTrace) {
  model_.ChangeLane(LaneAction::kFold, "ops");
  model_.ChangeLane(LaneAction::kPin, "blocks");
  model_.SetData(TimelineData::Build(testing::MakeSyntheticTrace({.layers = 3})), false, 0);
  EXPECT_TRUE(At("ops").folded);
  EXPECT_TRUE(At("blocks").pinned);
}

}  // namespace
}  // namespace vramscope::ui::timeline
