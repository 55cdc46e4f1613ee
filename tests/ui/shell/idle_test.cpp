// Tests that an idle window does nothing. Something has just been animated in each of several
// windows. Counts all paint events, timers and update requests of the windows for ten seconds.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <QApplication>
#include <QMap>
#include <QMouseEvent>
#include <QStringList>

#include "tests/ui/shell/recorded_window.h"
#include "ui/panels/technique_panel.h"
#include "ui/panels/toggle_switch.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

constexpr int kIdleMs = 10'000;
constexpr double kMostCpuMs =
    200;  // events of the event loop itself; a window that redraws causes thousands

// Counts events for each kind and each receiver.
class Counter : public QObject {
 public:
  QMap<QString, int> counted;
  QStringList Lines() const {
    QStringList lines;
    for (auto it = counted.begin(); it != counted.end(); ++it)
      lines << QStringLiteral("%1 %2").arg(it.value()).arg(it.key());
    return lines;
  }
  bool eventFilter(QObject* object, QEvent* event) override {
    const char* what = event->type() == QEvent::Paint           ? "paint"
                       : event->type() == QEvent::UpdateRequest ? "update"
                       : event->type() == QEvent::Timer         ? "timer"
                                                                : nullptr;
    // Does not count the timer with which the test itself waits.
    const bool of_window = object->isWidgetType() || object->parent() != nullptr;
    if (what != nullptr && of_window)
      ++counted[QStringLiteral("%1 of %2 '%3'")
                    .arg(QLatin1String(what), QLatin1String(object->metaObject()->className()),
                         object->objectName())];
    return false;
  }
};

double CpuMs() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(use.ru_utime) + ms(use.ru_stime);
}

class IdleTest : public testing::RecordedWindow {
 protected:
  void SetUp() override {}
  // Opens another window and keeps the previous one open.
  void NextWindow() {
    if (window_) windows_.push_back(std::move(window_));
    Open({});
    window_->move(static_cast<int>(60 * windows_.size()), static_cast<int>(20 * windows_.size()));
    window_->setObjectName(QStringLiteral("window %1").arg(windows_.size()));
  }
  void HoverBlocks() {
    timeline::TimelineWidget* canvas = window_->timelineWidget();
    for (const double part : {0.5, 0.52}) {
      const QPointF at(canvas->width() * part, canvas->height() * 0.6);
      QMouseEvent move(QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                       Qt::NoModifier);
      QApplication::sendEvent(canvas, &move);
    }
    ASSERT_TRUE(WaitFor(
        [&] { return State()["timeline"].toObject()["hover"].toObject()["tooltip"].toBool(); }));
  }

  std::vector<std::unique_ptr<MainWindow>> windows_;
};

TEST_F(IdleTest, NoEventsInTenIdleSeconds) {
  // First window: a zoom has been animated, and the mouse, which no longer moves, shows the cursor
  // and a tooltip.
  NextWindow();
  OpenRecorded();
  window_->timelineWidget()->jumpToPeak();
  window_->timelineWidget()->zoomIn();
  HoverBlocks();
  // Next window: a toggle has been animated, with a baseline behind the run.
  NextWindow();
  window_->runConfig(window_->config());
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  ToggleSwitch* toggle = window_->techniquePanel()->toggle(QStringLiteral("checkpoint-layer"));
  ASSERT_NE(toggle, nullptr);
  const auto first = window_->digest();
  QTest::mouseClick(toggle, Qt::LeftButton);
  ASSERT_TRUE(WaitFor([&] { return window_->digest() != first && !window_->busy(); }));
  // Next window: it compares with another run, and the blocks of a row are highlighted.
  NextWindow();
  OpenRecorded();
  window_->compareWith(
      Write("other.trace", *vramscope::testing::MakeRecordedTrace({.layers = 4, .leak = false})));
  ASSERT_TRUE(WaitFor([this] { return State()["baseline"].toBool(); }));
  window_->openPage(QStringLiteral("compare"));
  ASSERT_TRUE(Idle());
  // Next windows: a page has computed in the background and reported progress.
  for (const char* page : {"what-if", "reclaim", "fragmentation", "phases"}) {
    NextWindow();
    OpenRecorded();
    window_->openPage(QLatin1String(page));
    ASSERT_TRUE(Idle());
  }
  // Next window: the page of a program was open, and the focus is back in the canvas.
  NextWindow();
  window_->openProgram();
  windows_.push_back(std::move(window_));
  for (auto& window : windows_) {
    window->timelineWidget()->setFocus();
    ASSERT_TRUE(WaitFor([&] { return !window->busy() && window->timelineWidget()->ready(); }));
  }
  QTest::qWait(1500);  // until all animations have ended

  Counter counter;
  qApp->installEventFilter(&counter);
  std::vector<double> frames;
  for (auto& window : windows_)
    frames.push_back(window->timelineWidget()->dumpState()["frames"].toObject()["all"].toDouble());
  const double before = CpuMs();
  QTest::qWait(kIdleMs);
  EXPECT_LT(CpuMs() - before, kMostCpuMs);
  qApp->removeEventFilter(&counter);
  EXPECT_TRUE(counter.counted.isEmpty())
      << counter.Lines().join(QStringLiteral("\n")).toStdString();
  for (size_t i = 0; i < windows_.size(); ++i)
    EXPECT_EQ(windows_[i]->timelineWidget()->dumpState()["frames"].toObject()["all"].toDouble(),
              frames[i])
        << i;

  // Moves the mouse in each window, to check that the counter works.
  qApp->installEventFilter(&counter);
  for (size_t i = 0; i < windows_.size(); ++i) {
    timeline::TimelineWidget* canvas = windows_[i]->timelineWidget();
    const QPointF at(canvas->width() * 0.3, canvas->height() * 0.5);
    QMouseEvent move(QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    counter.counted.clear();
    if (canvas->trace() != nullptr) {
      QApplication::sendEvent(canvas, &move);
    } else {
      canvas->update();
    }
    EXPECT_TRUE(WaitFor([&] { return !counter.counted.isEmpty(); })) << i;
  }
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
