// The raster renderer divides a frame into bands of rows for several threads, and fills shapes
// without QPainter. The result must be the same as with QPainter.
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <atomic>
#include <cmath>
#include <vector>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/model/timeline_model.h"
#include "ui/timeline/raster/raster_renderer.h"

namespace vramscope::ui::timeline {
namespace {

TEST(CrewTest, RunsEveryPartOnce) {
  for (const int helpers : {0, 1, 3}) {
    Crew crew(helpers);
    for (size_t count = 0; count < 200; ++count) {
      std::vector<std::atomic<int>> done(count);
      crew.Do(count, [&](size_t i) { ++done[i]; });
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(done[i], 1) << i << " of " << count;
    }
  }
}

QImage BlankImage(double scale, int width, int height) {
  QImage image(static_cast<int>(std::ceil(width * scale)),
               static_cast<int>(std::ceil(height * scale)), QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(0xff202020);
  return image;
}

TEST(RasterRendererTest, BandsAndThreadsDoNotChangePixels) {
  const auto data = TimelineData::Build(
      testing::MakeSyntheticTrace({.layers = 6, .steps = 2, .activities = {.streams = 5}}));
  for (const double scale : {1.0, 1.5, 2.0}) {
    for (const int zooms : {0, 4}) {
      TimelineModel model;
      model.SetAnimations(false);
      model.Resize(900, 1000, scale);
      model.SetData(data, false, 0);
      model.SetBaselineTrace(data, "itself");
      for (int i = 0; i < zooms; ++i) model.ZoomBy(2, 0);
      Crew alone(0), three(3);
      RasterRenderer whole(&alone), shared(&three);
      whole.SetBandRows(1 << 20);
      shared.SetBandRows(7);
      DrawList list;
      model.BuildData(whole.measure(), &list);
      QImage a = BlankImage(scale, 900, 1000), b = a.copy();
      b.setDevicePixelRatio(scale);
      whole.Render(list, &a);
      shared.Render(list, &b);
      ASSERT_EQ(a, b) << scale << ", " << zooms;
    }
  }
}

// Antialiased edges may only have invisible differences from QPainter's.
TEST(RasterRendererTest, ShapesMatchQPainter) {
  DrawList list;
  const Color red{220, 40, 40}, glass{40, 90, 220, 120};
  list.Box({10, 10, 80, 30}, 6, red);
  list.Box({100.3f, 10.6f, 60, 25}, 4, glass, red, 2);
  list.Box({180, 10, 50, 40}, 0, {0, 0, 0, 0}, red, 1);
  list.Box({240, 12, 4, 12}, 2, red);
  list.Circle(30, 80, 12, glass, red, 2);
  list.Circle(70.5f, 80.25f, 3, red, {0, 0, 0, 0}, 0);
  list.Line(100, 70.5f, 200, 70.5f, red);
  list.Line(100, 80.2f, 200, 80.2f, red, 1.5f);
  list.Line(210.5f, 60, 210.5f, 110, red, 1, {4, 3});
  list.Line(200, 90, 100, 90, red, 2, {5, 2});
  list.Line(110, 100, 190, 118, red, 2);  // neither horizontal nor vertical
  const Point chevron[] = {{20, 110}, {26, 116}, {32, 110}};
  list.Polyline(chevron, red, 1.5f);
  list.PushClip({230, 60, 20, 20});
  list.Box({220, 50, 60, 60}, 10, glass);
  list.PopClip();
  list.Text("forward 85.5 ms", {20, 130, 200, 20}, Font::kBodyBold, red);
  list.Text("right", {20, 150, 200, 20}, Font::kSmall, red, Align::kRight);
  for (const double scale : {1.0, 1.25, 2.0}) {
    Crew crew(0);
    RasterRenderer renderer(&crew);
    QImage filled = BlankImage(scale, 300, 180), painted = BlankImage(scale, 300, 180);
    renderer.Render(list, &filled);
    {
      QPainter painter(&painted);
      renderer.Paint(list, &painter);
    }
    int touched = 0, far = 0;
    for (int y = 0; y < filled.height(); ++y) {
      for (int x = 0; x < filled.width(); ++x) {
        const QRgb a = filled.pixel(x, y), b = painted.pixel(x, y);
        touched += b != 0xff202020;
        far += std::abs(qRed(a) - qRed(b)) > 40 || std::abs(qBlue(a) - qBlue(b)) > 40;
      }
    }
    EXPECT_GT(touched, 5000 * scale);
    // Texts differ, because they begin at whole pixels, and so do rounded corners.
    EXPECT_LT(far, touched / 25) << scale;
  }
}

struct CountingLane : Lane {
  std::string_view key() const override { return "counting"; }
  std::string Name(const CanvasState&) const override { return "counting"; }
  LaneWants Wants(const CanvasState&) const override { return {}; }
  void Ask(const CanvasState&, const LanePlace&, LaneAnswer* answer) const override {
    ++asked;
    answer->gaps.resize(1);
    answer->gaps[0].row = static_cast<uint32_t>(asked);
  }
  void Draw(const LaneDrawing& draw) const override {
    seen = draw.answer.gaps.empty() ? 0 : static_cast<int>(draw.answer.gaps[0].row);
  }
  mutable int asked = 0, seen = 0;
};

// A lane must be queried when the view or its size changes, but not when colours, the selection or
// the position of the lane change.
TEST(SceneTest, QueriesALaneOncePerView) {
  Crew crew(0);
  const RasterRenderer renderer(&crew);
  CanvasState s;
  s.data = TimelineData::Build(testing::MakeSyntheticTrace({.layers = 2}));
  s.viewport.SetExtent(0, s.data->duration_ns());
  s.viewport.SetPixels(0, 500);
  s.layout.width = s.layout.plot_width = 500;
  s.layout.height = 300;
  CountingLane lane;
  LanePlace place;
  place.lane = &lane;
  place.visible = true;
  place.body = {0, 100, 500, 40};
  place.clip = {0, 0, 500, 300};
  s.layout.lanes = {place};
  SceneMemory memory;
  DrawList list;
  const auto draw = [&] { BuildDataLayer(s, renderer.measure(), &crew, &memory, &list); };
  draw();
  EXPECT_EQ(lane.asked, 1);
  s.theme = Theme::Light();
  s.layout.lanes[0].body.y = 60;  // scrolled
  draw();
  EXPECT_EQ(lane.asked, 1);
  EXPECT_EQ(lane.seen, 1);
  s.viewport.SetView({0, s.data->duration_ns() / 2});
  draw();
  EXPECT_EQ(lane.seen, 2);
  s.layout.lanes[0].body.w = 400;
  draw();
  EXPECT_EQ(lane.seen, 3);
  s.layout.lanes[0].body.h = 0;  // folded
  draw();
  EXPECT_EQ(lane.asked, 3);
}

}  // namespace
}  // namespace vramscope::ui::timeline
