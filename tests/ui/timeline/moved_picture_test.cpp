// If it takes too long to draw a frame, the widget shows the previous frame, moved with the view,
// until the exact frame is drawn. Compares the moved pixels with their definition. Also checks
// which frames the widget draws.
#include <gtest/gtest.h>

#include <QApplication>
#include <QImage>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>
#include <cmath>
#include <random>
#include <vector>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/raster/pixel_fill.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui::timeline {
namespace {

constexpr uint32_t kOutside = 0xff010203;

TEST(MovePixels, MatchesPixelwiseDefinition) {
  constexpr int kWidth = 83, kHeight = 9;
  std::mt19937 random(4);
  std::vector<uint32_t> from(kWidth * kHeight);
  for (uint32_t& p : from) p = 0xff000000 | random();
  std::uniform_real_distribution<double> place(-1.5, 2.5);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint32_t> to(from.size(), 7);
    const int x = static_cast<int>(random() % 20), y = static_cast<int>(random() % 4);
    const int w = 1 + static_cast<int>(random() % 60), h = 1 + static_cast<int>(random() % 5);
    double begin = place(random), end = place(random);
    if (round % 3 == 0) {  // moves by whole pixels without stretching
      begin = (static_cast<int>(random() % 40) - 20) / static_cast<double>(w);
      end = begin + 1;
    }
    if (end <= begin) std::swap(begin, end);
    if (end == begin) continue;
    MovePixels(from.data(), {to.data(), kWidth, kHeight, kWidth, 1},
               {static_cast<float>(x), static_cast<float>(y), static_cast<float>(w),
                static_cast<float>(h)},
               begin, end, kOutside);
    for (int v = 0; v < kHeight; ++v) {
      for (int u = 0; u < kWidth; ++u) {
        const size_t at = static_cast<size_t>(v * kWidth + u);
        if (u < x || u >= x + w || v < y || v >= y + h) {
          ASSERT_EQ(to[at], 7u) << "outside the area";
          continue;
        }
        // Where the middle of this pixel was in the previous frame.
        const double there = (begin + (end - begin) * (u - x + 0.5) / w) * w;
        const double edge = std::abs(there - std::round(there));
        if (edge < 1e-9) continue;
        const uint32_t expected =
            there < 0 || there >= w
                ? kOutside
                : from[static_cast<size_t>(v * kWidth + x + static_cast<int>(there))];
        ASSERT_EQ(to[at], expected) << u << ", " << v;
      }
    }
  }
}

class MovedFrame : public ::testing::Test {
 protected:
  MovedFrame() {
    for (TimelineWidget* w : {&moved_, &exact_}) {
      w->setAnimations(false);
      w->resize(1000, 720);
      w->setTrace(trace_);
      w->show();
      w->settle();
      w->grab();
    }
    moved_.setFrameBudget(0);
    exact_.setFrameBudget(1e9);
  }
  static qint64 Frames(const TimelineWidget& w, const char* which) {
    return w.dumpState()["frames"].toObject()[which].toInteger();
  }
  static QRect Body(const TimelineWidget& w, const char* lane) {
    for (const QJsonValue& v : w.dumpState()["lanes"].toArray()) {
      if (v["lane"].toString() != QLatin1String(lane)) continue;
      const QJsonArray r = v["body"].toArray();
      return QRectF(r[0].toDouble(), r[1].toDouble(), r[2].toDouble(), r[3].toDouble()).toRect();
    }
    return {};
  }

  std::shared_ptr<const trace::Trace> trace_ =
      testing::MakeSyntheticTrace({.layers = 8, .steps = 2, .activities = {.streams = 4}});
  TimelineWidget moved_, exact_;
};

TEST_F(MovedFrame, IsShownUntilTheExactFrameIsDrawn) {
  for (TimelineWidget* w : {&moved_, &exact_}) {
    w->zoomIn();
    w->zoomIn();
  }
  moved_.grab();
  exact_.grab();  // both widgets show the exact frame of the same view
  for (int i = 0; i < 100 && !moved_.ready(); ++i) QTest::qWait(10);
  const qint64 made = Frames(moved_, "data"), moves = Frames(moved_, "moved");
  moved_.zoomIn();
  exact_.zoomIn();
  const QImage stretched = moved_.grab().toImage();
  EXPECT_EQ(Frames(moved_, "data"), made) << "no data was queried";
  EXPECT_GE(Frames(moved_, "moved"), moves + 1);
  EXPECT_FALSE(moved_.ready());
  for (int i = 0; i < 100 && !moved_.ready(); ++i) QTest::qWait(10);
  EXPECT_TRUE(moved_.ready());
  EXPECT_EQ(Frames(moved_, "data"), made + 1);
  EXPECT_EQ(Frames(exact_, "moved"), 0);
  const QImage now = moved_.grab().toImage();
  EXPECT_EQ(now, exact_.grab().toImage());
  EXPECT_NE(now, stretched);
  // Until the exact frame was drawn, the previous frame was shown, stretched by half. The two
  // frames must be similar.
  const QRect memory = Body(moved_, "memory").adjusted(0, 20, 0, 0);
  ASSERT_GT(memory.height(), 50);
  int alike = 0, all = 0;
  for (int y = memory.top(); y < memory.bottom(); ++y)
    for (int x = memory.left(); x < memory.right(); ++x, ++all)
      alike += stretched.pixel(x, y) == now.pixel(x, y);
  EXPECT_GT(alike, all * 8 / 10);
}

TEST_F(MovedFrame, IsNotUsedAfterThemeOrSizeChange) {
  for (int i = 0; i < 100 && !moved_.ready(); ++i) QTest::qWait(10);
  const qint64 moves = Frames(moved_, "moved");
  moved_.zoomIn();
  moved_.setTheme(Theme::Light());
  moved_.grab();
  moved_.resize(900, 700);
  moved_.grab();
  EXPECT_EQ(Frames(moved_, "moved"), moves);
}

TEST_F(MovedFrame, NothingIsDrawnAfterTheExactFrame) {
  moved_.zoomIn();
  moved_.grab();
  for (int i = 0; i < 100 && !moved_.ready(); ++i) QTest::qWait(10);
  QApplication::processEvents();
  const qint64 before = Frames(moved_, "all");
  QTest::qWait(500);
  EXPECT_EQ(Frames(moved_, "all"), before);
}

}  // namespace
}  // namespace vramscope::ui::timeline

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("VRAMSCOPE_RENDERER", "raster");
  QApplication app(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
