// Measures the time from a toggle of a technique to the new timeline on the screen, with the real
// window, the real worker (kept warm) and the default run: Qwen2-0.5B, batch 2, sequence 512.
//
//   xvfb-run -a -s "-screen 0 1920x1080x24" toggle_bench [ROUNDS]
//
// First, every toggle needs a new plan. Then, as in normal use, plans that were made before are
// shown again. Prints these times in milliseconds:
//   click     until the click has been handled and the run is requested
//   worker    the wall-clock time of the run in the worker
//   trace     from the click to the complete trace
//   painted   from the click to the end of the first frame of the canvas with the new trace; the
//             animation continues for up to 200 ms after it
//   shown     from the click until the panels are filled
#include <QApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QEventLoop>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ui/panels/technique_panel.h"
#include "ui/panels/toggle_switch.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace {

using namespace vramscope;
using ui::MainWindow;

constexpr int kRounds = 20;
constexpr int kLimitMs = 60'000;
constexpr int kPauseMs = 450;  // after it, the animation is over and the event loop is idle
const char* const kToggles[] = {"checkpoint-layer", "amp-bf16", "fused", "lora"};

// Notices when the canvas is painted. It may be painted by a widget inside it.
class PaintWatch : public QObject {
 public:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Paint && armed) {
      armed = false;
      painted = true;
    }
    return false;
  }
  bool armed = false, painted = false;
};

// Sleeps between events, as a window does, because a spinning loop would use the worker's core.
bool WaitFor(const std::function<bool()>& what) {
  QElapsedTimer since;
  since.start();
  QTimer wake;
  wake.start(100);
  while (!what() && since.elapsed() < kLimitMs)
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
  return what();
}

void Pause(int ms) {
  QEventLoop loop;
  QTimer::singleShot(ms, &loop, &QEventLoop::quit);
  loop.exec();
}

void Report(const char* name, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double q) {
    return ms[std::min(ms.size() - 1, static_cast<size_t>(q * static_cast<double>(ms.size())))];
  };
  std::printf("%-8s n %3zu  min %6.1f  p25 %6.1f  median %6.1f  p75 %6.1f  p90 %6.1f  max %6.1f\n",
              name, ms.size(), ms.front(), at(0.25), at(0.5), at(0.75), at(0.9), ms.back());
}

// Measures one window. If `known`, it behaves as in normal use: it shows earlier plans again, and
// plans the savings of each technique in the background. Otherwise, every toggle needs a new
// plan.
bool Measure(const QTemporaryDir& folder, const QString& worker, int rounds, bool known) {
  std::printf(known ? "\nas used: savings planned in the background, known plans shown again\n"
                    : "every toggle planned anew\n");
  MainWindow window({.worker_program = worker,
                     .settings_file = folder.filePath(QStringLiteral("settings.ini")),
                     .savings = known,
                     .cache = known});
  window.setThemeChoice(ui::ThemeChoice::kDark);
  window.resize(1680, 1050);
  window.show();

  QElapsedTimer since;
  double trace_ms = 0, painted_ms = 0, shown_ms = 0, worker_ms = 0;
  bool shown = false;
  PaintWatch paint;
  window.timelineWidget()->installEventFilter(&paint);
  for (QWidget* child : window.timelineWidget()->findChildren<QWidget*>())
    child->installEventFilter(&paint);
  const auto elapsed = [&] { return static_cast<double>(since.nsecsElapsed()) / 1e6; };
  QObject::connect(window.worker(), &ui::WorkerClient::runEnded, [&] {
    trace_ms = elapsed();
    worker_ms = window.worker()->lastSeconds() * 1e3;
  });
  QObject::connect(window.timelineWidget(), &ui::timeline::TimelineWidget::dataShown, [&] {
    paint.armed = true;
    paint.painted = false;
  });
  QObject::connect(&window, &MainWindow::timelineShown, [&] { painted_ms = elapsed(); });
  QObject::connect(&window, &MainWindow::documentShown, [&] {
    if (!window.digest()->trace->complete) return;  // the first run is not complete yet
    shown_ms = elapsed();
    shown = true;
  });

  since.start();
  window.runConfig(window.config());
  if (!WaitFor([&] { return shown; })) {
    std::fprintf(stderr, "toggle_bench: no run arrived\n");
    return false;
  }
  std::printf("first run (worker started cold): %.0f ms, %u events\n", shown_ms,
              window.digest()->trace->events.size());
  std::vector<double> clicks, workers, traces, showns, painteds;
  for (int i = 0; i < rounds; ++i) {
    for (const char* id : kToggles) {
      for (int twice = 0; twice < 2; ++twice) {  // switches the toggle on, then off
        Pause(kPauseMs);
        if (known && !WaitFor([&] { return window.settled(); })) return false;
        shown = paint.painted = paint.armed = false;
        since.start();
        window.techniquePanel()->toggle(QString::fromLatin1(id))->click();
        clicks.push_back(elapsed());
        if (!WaitFor([&] { return shown; }) || !paint.painted) {
          std::fprintf(stderr, "toggle_bench: %s: nothing was painted\n", id);
          return false;
        }
        painteds.push_back(painted_ms);
        workers.push_back(worker_ms);
        traces.push_back(trace_ms);
        showns.push_back(shown_ms);
      }
    }
  }
  if (!known) {  // a cached plan is shown without a run of the worker
    Report("click", clicks);
    Report("worker", workers);
    Report("trace", traces);
  }
  Report("painted", painteds);
  Report("shown", showns);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : kRounds;
  QTemporaryDir folder;
  const QString worker = ui::FindWorker();
  if (worker.isEmpty()) {
    std::fprintf(stderr,
                 "toggle_bench: vramscope-worker is not built, so nothing can be measured\n");
    return 77;
  }
  const bool fresh = Measure(folder, worker, rounds, /*known=*/false);
  const bool known = Measure(folder, worker, std::max(1, rounds / 4), /*known=*/true);
  return fresh && known ? 0 : 1;
}
