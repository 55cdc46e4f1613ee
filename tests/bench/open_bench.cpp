// Measures how long the real window takes to show a first frame after it opens a file, to load the
// complete file, and to show the next frame after a turn of the wheel.
//
//   xvfb-run -a -s "-screen 0 1920x1080x24" open_bench FILE [TIMES]
//
// Prints milliseconds. A script that is not part of this project measures memory_viz in a browser,
// with the same snapshots in the same hour, for comparison.
#include <QApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QTemporaryDir>
#include <QTimer>
#include <QWheelEvent>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"

namespace {

using namespace vramscope;

constexpr int kLimitMs = 600'000;
constexpr int kWheelSteps = 40;
constexpr int kPauseMs = 60;

class PaintWatch : public QObject {
 public:
  bool eventFilter(QObject*, QEvent* event) override {
    painted = painted || event->type() == QEvent::Paint;
    return false;
  }
  bool painted = false;
};

bool WaitFor(const std::function<bool()>& what) {
  QElapsedTimer since;
  since.start();
  QTimer wake;
  wake.start(100);
  while (!what() && since.elapsed() < kLimitMs)
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
  return what();
}

void Report(const char* name, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  std::printf("%-14s n %3zu  min %8.1f  median %8.1f  max %8.1f\n", name, ms.size(), ms.front(),
              ms[ms.size() / 2], ms.back());
}

}  // namespace

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: open_bench FILE [TIMES]\n");
    return 2;
  }
  const int times = argc > 2 ? std::max(1, std::atoi(argv[2])) : 3;
  std::vector<double> first, whole, wheel;
  for (int i = 0; i < times; ++i) {
    QTemporaryDir folder;
    ui::MainWindow window({.worker_program = {},
                           .settings_file = folder.filePath(QStringLiteral("settings.ini")),
                           .savings = false});
    window.resize(1680, 1050);
    window.show();
    PaintWatch paint;
    QWidget* canvas = window.timelineWidget();
    canvas->installEventFilter(&paint);
    for (QWidget* child : canvas->findChildren<QWidget*>()) child->installEventFilter(&paint);
    QElapsedTimer since;
    const auto elapsed = [&] { return static_cast<double>(since.nsecsElapsed()) / 1e6; };
    bool shown = false, failed = false;
    QObject::connect(&window, &ui::MainWindow::documentShown, [&] {
      shown = true;
      paint.painted = false;
    });
    QObject::connect(&window, &ui::MainWindow::failed, [&] { failed = true; });
    QCoreApplication::processEvents();
    since.start();
    window.openFile(QString::fromLocal8Bit(argv[1]));
    if (!WaitFor([&] { return failed || (shown && paint.painted); }) || failed) {
      std::fprintf(stderr, "open_bench: %s was not opened\n", argv[1]);
      return 1;
    }
    first.push_back(elapsed());
    const auto complete = [&] {
      return !window.busy() && window.digest() != nullptr && window.digest()->trace->complete;
    };
    if (!WaitFor([&] { return complete() && paint.painted; })) return 1;
    whole.push_back(elapsed());
    WaitFor([&] { return window.settled(); });
    // The pointer is at three quarters of the width. Zooms in there, then out again.
    for (int step = 0; step < kWheelSteps; ++step) {
      const QPointF at(canvas->width() * 0.75, canvas->height() * 0.4);
      const QPoint turn(0, step < kWheelSteps / 2 ? 120 : -120);
      QElapsedTimer pause;
      pause.start();
      while (pause.elapsed() < kPauseMs) QCoreApplication::processEvents();
      paint.painted = false;
      QWheelEvent event(at, canvas->mapToGlobal(at), {}, turn, Qt::NoButton, Qt::ControlModifier,
                        Qt::NoScrollPhase, false);
      since.start();
      QCoreApplication::sendEvent(canvas, &event);
      if (WaitFor([&] { return paint.painted; })) wheel.push_back(elapsed());
    }
  }
  Report("first picture", first);
  Report("whole file", whole);
  Report("wheel step", wheel);
  return 0;
}
