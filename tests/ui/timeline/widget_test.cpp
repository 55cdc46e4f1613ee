// Tests the widget with the raster renderer on the offscreen platform: pixels of the lanes, and
// signals. The widget must draw only when something changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QContextMenuEvent>
#include <QImage>
#include <QJsonArray>
#include <QJsonObject>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>

#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui::timeline {
namespace {

class TimelineWidgetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    qRegisterMetaType<trace::AllocationId>();
    widget_.setAnimations(false);
    // Never shifts the last picture instead of drawing anew; moved_picture_test.cpp tests that.
    widget_.setFrameBudget(1e9);
    widget_.resize(1000, 720);
    widget_.show();
    trace_ = testing::MakeSyntheticTrace({.layers = 8});
    widget_.setTrace(trace_);
    Settle();
  }
  void Settle() {
    widget_.settle();
    for (int i = 0; i < 5; ++i) QApplication::processEvents();
  }
  QImage Grab() { return widget_.grab().toImage(); }
  QRectF Body(const char* lane) {
    for (const QJsonValue& v : widget_.dumpState()["lanes"].toArray()) {
      if (v["lane"].toString() != QLatin1String(lane)) continue;
      QJsonArray r = v["body"].toArray();
      return {r[0].toDouble(), r[1].toDouble(), r[2].toDouble(), r[3].toDouble()};
    }
    return {};
  }
  QPointF At(const char* lane, double x, double y) {
    QRectF r = Body(lane);
    return {r.x() + r.width() * x, r.y() + r.height() * y};
  }
  qint64 Frames(const char* which) {
    return widget_.dumpState()["frames"].toObject()[which].toInteger();
  }
  void Mouse(QEvent::Type type, QPointF at, Qt::MouseButton button) {
    QMouseEvent e(type, at, widget_.mapToGlobal(at), button,
                  type == QEvent::MouseButtonRelease ? Qt::NoButton : button, Qt::NoModifier);
    QApplication::sendEvent(&widget_, &e);
  }
  static bool Near(QColor a, Color b, int tolerance = 10) {
    return std::abs(a.red() - b.r) <= tolerance && std::abs(a.green() - b.g) <= tolerance &&
           std::abs(a.blue() - b.b) <= tolerance;
  }

  TimelineWidget widget_;
  std::shared_ptr<const trace::Trace> trace_;
};

TEST_F(TimelineWidgetTest, DrawsCategoriesInTheirColours) {
  for (const Theme& theme : {Theme::Dark(), Theme::Light()}) {
    widget_.setTheme(theme);
    Settle();
    QImage image = Grab();
    EXPECT_TRUE(Near(image.pixelColor(2, 2), theme.ground, 0));
    QPoint parameter = At("memory", 0.3, 0.97).toPoint();
    EXPECT_TRUE(Near(image.pixelColor(parameter), theme.category(trace::Category::kParameter)));
    QPoint empty = At("memory", 0.05, 0.1).toPoint();
    EXPECT_TRUE(Near(image.pixelColor(empty), theme.ground, 40));
    QPoint phase(static_cast<int>(Body("phases").x()) + 320,
                 static_cast<int>(Body("phases").center().y()) + 7);
    EXPECT_FALSE(Near(image.pixelColor(phase), theme.ground, 20));
  }
}

TEST_F(TimelineWidgetTest, DrawsNothingWhileNothingChanges) {
  Grab();
  Settle();
  qint64 before = Frames("all");
  QTest::qWait(400);
  EXPECT_EQ(Frames("all"), before);
}

TEST_F(TimelineWidgetTest, HoverRedrawsOnlyTheOverlay) {
  Grab();
  qint64 all = Frames("all"), data = Frames("data");
  for (int i = 0; i < 20; ++i) {
    Mouse(QEvent::MouseMove, At("blocks", 0.03 * i + 0.1, 0.5), Qt::NoButton);
    Grab();
  }
  EXPECT_GE(Frames("all"), all + 20);
  EXPECT_EQ(Frames("data"), data);
}

TEST_F(TimelineWidgetTest, TooltipAppearsAfterHoverDelay) {
  Mouse(QEvent::MouseMove, At("memory", 0.4, 0.9), Qt::NoButton);
  EXPECT_FALSE(widget_.dumpState()["hover"].toObject()["tooltip"].toBool());
  QTest::qWait(400);
  QJsonObject hover = widget_.dumpState()["hover"].toObject();
  EXPECT_TRUE(hover["tooltip"].toBool());
  EXPECT_TRUE(hover["rows"].toObject().contains("Parameter"));
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(&widget_, &leave);
  EXPECT_TRUE(widget_.dumpState()["hover"].isNull());
}

TEST_F(TimelineWidgetTest, TitleMenuChangesItsLane) {
  QSignalSpy lanes(&widget_, &TimelineWidget::lanesChanged);
  QString seen;  // all entries of the menu
  const auto choose = [&](const char* lane, const char* what) {
    const QPoint at = QPoint(200, static_cast<int>(Body(lane).top()) - 8);
    QTimer::singleShot(0, &widget_, [&] {
      auto* menu = widget_.findChild<QMenu*>(QStringLiteral("lane_menu"));
      ASSERT_NE(menu, nullptr);
      seen.clear();
      for (QAction* action : menu->findChildren<QAction*>()) {
        seen += action->text();
        if (action->text().startsWith(QLatin1String(what))) action->trigger();
      }
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, widget_.mapToGlobal(at));
    QApplication::sendEvent(&widget_, &event);
  };
  choose("ops", "Hide");
  EXPECT_TRUE(Body("ops").isEmpty());
  EXPECT_TRUE(seen.contains(
      QStringLiteral("This trace has no kernels. To get kernels, run vramscope record")));
  choose("blocks", "ops");  // in the submenu "Show"
  EXPECT_FALSE(Body("ops").isEmpty());
  choose("modules", "Pin");
  EXPECT_LT(Body("modules").top(), Body("memory").top());
  EXPECT_EQ(lanes.count(), 3);

  const QString kept = widget_.laneSettings();
  widget_.resetLanes();
  EXPECT_TRUE(widget_.laneSettings().isEmpty());
  EXPECT_GT(Body("modules").top(), Body("memory").top());
  widget_.setLaneSettings(kept);
  EXPECT_LT(Body("modules").top(), Body("memory").top());
}

TEST_F(TimelineWidgetTest, DumpStateListsLanesWithActivityCounts) {
  widget_.setTrace(testing::MakeSyntheticTrace({.layers = 2, .activities = {.streams = 2}}));
  Settle();
  const QJsonObject state = widget_.dumpState();
  qint64 kernels = 0;
  for (const QJsonValue& lane : state["lanes"].toArray())
    if (lane["lane"].toString().startsWith(QLatin1String("stream/0/")))
      kernels += lane["count"].toInteger();
  const trace::ActivityTable& a = widget_.trace()->activities;
  EXPECT_EQ(kernels, std::count_if(a.kind.begin(), a.kind.end(), [](trace::ActivityKind kind) {
              return kind == trace::ActivityKind::kKernel || kind == trace::ActivityKind::kMemcpy;
            }));
  EXPECT_EQ(state["activities"].toInteger(), qint64{a.size()});
  QSignalSpy selection(&widget_, &TimelineWidget::selectionChanged);
  uint32_t row = 0;
  while (a.kind[row] != trace::ActivityKind::kKernel) ++row;
  widget_.selectActivity(row);
  EXPECT_EQ(selection.count(), 1);
  EXPECT_FALSE(widget_.activityFacts().title.empty());
  EXPECT_EQ(widget_.dumpState()["selection"].toObject()["activity"].toInteger(), qint64{row});
}

TEST_F(TimelineWidgetTest, EmitsSignalsForSelectionRangeCursorAndView) {
  QSignalSpy selection(&widget_, &TimelineWidget::selectionChanged);
  QSignalSpy range(&widget_, &TimelineWidget::rangeSelected);
  QSignalSpy cursor(&widget_, &TimelineWidget::cursorMoved);
  QSignalSpy view(&widget_, &TimelineWidget::viewChanged);
  widget_.select({5});
  ASSERT_EQ(selection.count(), 1);
  EXPECT_EQ(selection[0][0].value<trace::AllocationId>(), trace::AllocationId{5});
  EXPECT_EQ(widget_.dumpState()["selection"].toObject()["allocation"].toInteger(), 5);
  widget_.select({5});
  EXPECT_EQ(selection.count(), 1) << "the selection has not changed";

  Mouse(QEvent::MouseButtonPress, At("memory", 0.2, 0.5), Qt::LeftButton);
  Mouse(QEvent::MouseMove, At("memory", 0.5, 0.5), Qt::LeftButton);
  Mouse(QEvent::MouseButtonRelease, At("memory", 0.5, 0.5), Qt::LeftButton);
  ASSERT_GE(range.count(), 1);
  EXPECT_LT(range.last()[0].toLongLong(), range.last()[1].toLongLong());
  EXPECT_GE(range.last()[0].toLongLong(), trace_->begin_ns());

  Mouse(QEvent::MouseButtonPress, At("memory", 0.7, 0.5), Qt::LeftButton);
  Mouse(QEvent::MouseButtonRelease, At("memory", 0.7, 0.5), Qt::LeftButton);
  ASSERT_EQ(cursor.count(), 1);
  EXPECT_EQ(cursor[0][0].toLongLong(), widget_.cursorTime());

  widget_.zoomIn();
  EXPECT_GE(view.count(), 1);
  EXPECT_TRUE(widget_.canUndoView());
  widget_.undoView();
  EXPECT_TRUE(widget_.dumpState()["viewport"].toObject()["all"].toBool());
  EXPECT_TRUE(widget_.canRedoView());
}

TEST_F(TimelineWidgetTest, KeysMoveTheView) {
  auto press = [&](int key, Qt::KeyboardModifiers m = Qt::NoModifier) {
    QTest::keyClick(&widget_, static_cast<Qt::Key>(key), m);
    Settle();
    return widget_.dumpState()["viewport"].toObject();
  };
  double all = widget_.dumpState()["viewport"].toObject()["end_ns"].toDouble();
  double begin = press(Qt::Key_W)["begin_ns"].toDouble();
  EXPECT_GT(begin, 0);
  EXPECT_GT(press(Qt::Key_D)["begin_ns"].toDouble(), begin);
  EXPECT_NEAR(press(Qt::Key_A)["begin_ns"].toDouble(), begin, all * 1e-6);
  EXPECT_TRUE(press(Qt::Key_Home)["all"].toBool());
  press(Qt::Key_P);
  EXPECT_NEAR(widget_.dumpState()["cursor_ns"].toDouble(),
              widget_.dumpState()["peak"].toObject()["time_ns"].toDouble(), 1);
  EXPECT_FALSE(press(Qt::Key_Left, Qt::AltModifier)["all"].toBool()) << "undo";
  EXPECT_TRUE(press(Qt::Key_Right, Qt::AltModifier)["all"].toBool()) << "redo";
}

TEST_F(TimelineWidgetTest, LargeTraceIsBuiltInBackgroundWhileOldOneIsDrawn) {
  auto large = testing::MakeSyntheticTrace({.layers = 48, .steps = 40, .ops_per_module = 4});
  ASSERT_GT(large->events.size(), 200'000u);
  qint64 old = widget_.dumpState()["events"].toInteger();
  widget_.setTrace(large);
  EXPECT_EQ(widget_.trace(), large);
  EXPECT_FALSE(widget_.ready());
  EXPECT_EQ(widget_.dumpState()["events"].toInteger(), old) << "the old one stays";
  widget_.select({1000});
  Settle();
  EXPECT_TRUE(widget_.ready());
  EXPECT_EQ(widget_.dumpState()["events"].toInteger(), large->events.size());
  EXPECT_EQ(widget_.selection(), trace::AllocationId{1000});
}

TEST_F(TimelineWidgetTest, DrawsFromTheGivenCurves) {
  auto large = testing::MakeSyntheticTrace({.layers = 48, .steps = 40, .ops_per_module = 4});
  for (const auto& trace : {trace_, large}) {
    const auto curves =
        std::make_shared<const analysis::MemoryCurves>(analysis::ComputeCurves(*trace));
    const long before = curves.use_count();
    widget_.setTrace(std::make_shared<const trace::Trace>(*trace), false, curves);
    Settle();
    EXPECT_GT(curves.use_count(), before + 1) << "the canvas draws from them";
  }
}

TEST_F(TimelineWidgetTest, FreesLargeTracesThatAreNoLongerShown) {
  std::vector<std::weak_ptr<const trace::Trace>> seen;
  for (int i = 0; i < 5; ++i) {
    auto large = testing::MakeSyntheticTrace({.layers = 48, .steps = 80 + i, .ops_per_module = 4});
    ASSERT_GT(large->events.size(), 400'000u);
    seen.push_back(large);
    widget_.setTrace(large);
    Settle();
  }
  const auto alive = [&] {
    return std::ranges::count_if(seen, [](const auto& trace) { return !trace.expired(); });
  };
  // Earlier traces are freed a little later, on another thread.
  EXPECT_TRUE(QTest::qWaitFor([&] { return alive() <= 3; }, 10'000))
      << alive() << " traces are kept: more than the shown one and a million events of others";
  EXPECT_FALSE(seen.back().expired());
}

TEST_F(TimelineWidgetTest, CanBeDestroyedWhileBuilding) {
  auto large = testing::MakeSyntheticTrace({.layers = 48, .steps = 40, .ops_per_module = 4});
  auto widget = std::make_unique<TimelineWidget>();
  widget->setTrace(large);
  widget->setTrace(nullptr);
  widget.reset();
  for (int i = 0; i < 5; ++i) QApplication::processEvents();
}

TEST_F(TimelineWidgetTest, LastOfSeveralSetTraceCallsWins) {
  std::shared_ptr<const trace::Trace> last;
  for (int i = 0; i < 5; ++i) {
    last = testing::MakeSyntheticTrace({.layers = 48, .steps = 40 + i, .ops_per_module = 4});
    widget_.setTrace(last);
  }
  Settle();
  EXPECT_TRUE(widget_.ready());
  EXPECT_EQ(widget_.dumpState()["events"].toInteger(), last->events.size());
}

TEST_F(TimelineWidgetTest, AnimationToNewTraceEndsAndShowsBaseline) {
  widget_.setAnimations(true);
  Grab();
  auto other = testing::MakeSyntheticTrace({.layers = 8, .activation_share = 0.5});
  widget_.setBaselineTrace(trace_, "baseline");
  widget_.setTrace(other, true);
  EXPECT_FALSE(widget_.ready());
  QElapsedTimer clock;
  clock.start();
  while (!widget_.ready() && clock.elapsed() < 5000) QTest::qWait(10);
  EXPECT_TRUE(widget_.ready());
  Grab();
  QJsonObject baseline = widget_.dumpState()["ghost"].toObject();
  EXPECT_TRUE(baseline["shown"].toBool());
  EXPECT_EQ(baseline["label"].toString(), "baseline");
  EXPECT_FALSE(Body("difference").isEmpty());
  qint64 frames = Frames("all");
  QTest::qWait(300);
  EXPECT_EQ(Frames("all"), frames) << "the timer stops with the animation";
}

TEST_F(TimelineWidgetTest, ReportsStatusWithoutATrace) {
  widget_.setTrace(nullptr);
  Settle();
  EXPECT_FALSE(widget_.dumpState()["has_trace"].toBool());
  QImage empty = Grab();
  widget_.setFailed("Could not read x.trace", "bad checksum", "try another file");
  EXPECT_EQ(widget_.dumpState()["status"].toString(), "failed");
  EXPECT_NE(Grab(), empty);
  widget_.setLoading("Reading", 0.5);
  EXPECT_EQ(widget_.dumpState()["status"].toString(), "loading");
  widget_.setLoading("");
  EXPECT_EQ(widget_.dumpState()["status"].toString(), "none");
  EXPECT_EQ(Grab(), empty);
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
