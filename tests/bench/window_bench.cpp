// Measures response times of the real window. For every action on a recording, measures the time
// from the input to the frame that shows the result, and the longest time in which the window did
// not react.
//
//   xvfb-run -a -s "-screen 0 1920x1080x24" window_bench FILE [ROUNDS]
//   xvfb-run -a -s "-screen 0 1920x1080x24" window_bench --events 1000000 [ROUNDS [ONLY]]
//
// With ONLY, measures only actions whose name contains it.
//
// Prints a table with the median and maximum of the response time, the median of the UI thread's
// CPU time for it (use this figure on a busy computer), the longest time until everything was idle
// (including what a page computes when it is first shown), and the longest time for which the UI
// thread was busy without a pause. A page that computes counts as having responded when it shows
// that it computes, because the computation can be cancelled.
#include <QApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QWheelEvent>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/make_snapshot.h"
#include "ui/explain/explain_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"

namespace {

using namespace vramscope;

constexpr int kLimitMs = 600'000;
constexpr int kAnswerMs = 20'000;  // the longest wait for a frame
constexpr int kPauseMs = 60;

// Notices when any part of the window is painted.
class PaintWatch : public QObject {
 public:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Paint && watched->isWidgetType()) painted = true;
    return false;
  }
  bool painted = false;
};

class Bench {
 public:
  explicit Bench(QString file) : file_(std::move(file)) {
    window_ = std::make_unique<ui::MainWindow>(
        ui::MainWindowOptions{.worker_program = {},
                              .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                              .savings = false});
    window_->resize(1680, 1050);
    window_->show();
    qApp->installEventFilter(&paint_);
    Pause(200);
  }

  bool Open() {
    bool shown = false;
    QObject::connect(window_.get(), &ui::MainWindow::documentShown, [&] {
      shown = true;
      paint_.painted = false;
    });
    QElapsedTimer since;
    since.start();
    double blocked = 0;
    window_->openFile(file_);
    const double first = Until([&] { return shown && paint_.painted; }, since, &blocked);
    const double whole = Until(
        [&] {
          return !window_->busy() && window_->digest() != nullptr &&
                 window_->digest()->trace->complete;
        },
        since, &blocked);
    Until([&] { return window_->settled(); }, since, &blocked);
    resident_ = ResidentMib();
    Add("first picture", {first, 0, whole, blocked});
    Add("whole file", {whole, 0, whole, blocked});
    return window_->digest() != nullptr;
  }

  // The response is the next frame; if `answered` is set, the wait continues until it is true.
  void Time(const std::string& name, const std::function<void()>& act,
            const std::function<bool()>& answered = {}) {
    if (name.find(only) == std::string::npos) return;
    Pause(kPauseMs);
    paint_.painted = false;
    const double cpu_before = ThreadMs();
    QElapsedTimer since;
    since.start();
    act();
    double blocked = static_cast<double>(since.nsecsElapsed()) / 1e6;
    const double answer = Until([&] { return paint_.painted && (!answered || answered()); }, since,
                                &blocked, kAnswerMs);
    const double cpu = ThreadMs() - cpu_before;
    const bool came = paint_.painted;
    const double settled = Until([&] { return window_->settled(); }, since, &blocked);
    if (came) Add(name, {answer, cpu, settled, blocked});
  }

  std::string only;

  ui::MainWindow& window() { return *window_; }
  ui::timeline::TimelineWidget* canvas() { return window_->timelineWidget(); }

  void Wheel(bool in) {
    const QPointF at(canvas()->width() * 0.75, canvas()->height() * 0.4);
    QWheelEvent event(at, canvas()->mapToGlobal(at), {}, QPoint(0, in ? 120 : -120), Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas(), &event);
  }
  void Pan() {
    const QPointF at(canvas()->width() * 0.5, canvas()->height() * 0.4);
    QWheelEvent event(at, canvas()->mapToGlobal(at), {}, QPoint(0, 120), Qt::NoButton,
                      Qt::ShiftModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas(), &event);
  }
  void Key(int key) {
    QKeyEvent press(QEvent::KeyPress, key, Qt::NoModifier);
    QCoreApplication::sendEvent(canvas(), &press);
  }

  void Print() const {
    std::printf("%-28s %4s %10s %10s %10s %11s %11s\n", "action", "n", "median ms", "cpu ms",
                "max ms", "settled ms", "blocked ms");
    for (const auto& [name, times] : rows_) {
      const auto sorted = [&](double Times::*of) {
        std::vector<double> ms;
        for (const Times& t : times) ms.push_back(t.*of);
        std::sort(ms.begin(), ms.end());
        return ms;
      };
      const std::vector<double> answer = sorted(&Times::answer), cpu = sorted(&Times::cpu);
      std::printf("%-28s %4zu %10.1f %10.1f %10.1f %11.1f %11.1f\n", name.c_str(), times.size(),
                  answer[answer.size() / 2], cpu[cpu.size() / 2], answer.back(),
                  sorted(&Times::settled).back(), sorted(&Times::blocked).back());
    }
    std::printf("resident after opening: %.0f MiB\n", resident_);
  }

 private:
  struct Times {
    double answer = 0, cpu = 0, settled = 0, blocked = 0;
  };
  void Add(const std::string& name, Times times) {
    auto row =
        std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.first == name; });
    if (row == rows_.end()) row = rows_.insert(rows_.end(), {name, {}});
    row->second.push_back(times);
  }
  // This thread's CPU time, which excludes other programs.
  static double ThreadMs() {
    timespec at{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return static_cast<double>(at.tv_sec) * 1e3 + static_cast<double>(at.tv_nsec) / 1e6;
  }
  static double ResidentMib() {
    double pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%*s %lf", &pages) != 1) pages = 0;
      std::fclose(file);
    }
    return pages * 4096 / 1048576;
  }
  static void Pause(int ms) {
    QElapsedTimer pause;
    pause.start();
    while (pause.elapsed() < ms) QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
    // Deletes the widgets whose deletion is deferred. Otherwise, they would still be painted and
    // polished, because deferred deletions only happen when control returns to the event loop.
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  }
  // Waits until `what` is true and returns the milliseconds since `since`. Raises `blocked` to the
  // longest turn of the event loop.
  static double Until(const std::function<bool()>& what, const QElapsedTimer& since,
                      double* blocked, qint64 limit = kLimitMs) {
    QTimer wake;
    wake.start(5);
    while (!what() && since.elapsed() < limit) {
      QElapsedTimer turn;
      turn.start();
      QCoreApplication::processEvents(QEventLoop::AllEvents);
      *blocked = std::max(*blocked, static_cast<double>(turn.nsecsElapsed()) / 1e6);
      if (!what()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    return static_cast<double>(since.nsecsElapsed()) / 1e6;
  }

  QString file_;
  double resident_ = 0;
  QTemporaryDir folder_;
  PaintWatch paint_;
  std::unique_ptr<ui::MainWindow> window_;
  std::vector<std::pair<std::string, std::vector<Times>>> rows_;
};

void Run(Bench& bench, int rounds) {
  ui::MainWindow& window = bench.window();
  auto* canvas = bench.canvas();
  const auto& trace = *window.digest()->trace;
  const int64_t begin = trace.begin_ns(), length = trace.end_ns() - begin;
  for (int i = 0; i < rounds; ++i) {
    bench.Time("wheel in", [&] { bench.Wheel(true); });
    bench.Time("wheel in", [&] { bench.Wheel(true); });
    bench.Time("pan", [&] { bench.Pan(); });
    bench.Time("wheel out", [&] { bench.Wheel(false); });
    bench.Time("key W", [&] { bench.Key(Qt::Key_W); });
    bench.Time("show all", [&] { canvas->zoomToFit(); });
    bench.Time("select a block", [&] {
      canvas->select({static_cast<uint32_t>((i * 7919 + 13) % trace.allocations.size())});
    });
    bench.Time("cursor", [&] { canvas->setCursorTime(begin + length * (i % 9 + 1) / 11); });
    bench.Time("range", [&] {
      canvas->setRange(begin + length * (i % 5) / 10, begin + length * (i % 5 + 2) / 10);
    });
    bench.Time("leave the range", [&] { canvas->setRange(0, 0); });
  }
  window.openPage(QStringLiteral("allocations"));
  auto* edit = window.findChild<QLineEdit*>(QStringLiteral("allocationFilter"));
  for (int i = 0; i < rounds; ++i) {
    for (const char* text : {"a", "at", "att", "attn", ""})
      bench.Time(*text == '\0' ? "search: cleared" : "search: a key",
                 [&] { edit->setText(QLatin1String(text)); });
  }
  auto* table = window.findChild<QTableView*>(QStringLiteral("allocationsTable"));
  for (int i = 0; i < rounds; ++i)
    bench.Time("sort by a column", [&] {
      table->sortByColumn(i % 5 + 1, i % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
    });
  window.openPage(QStringLiteral("search"));
  for (int i = 0; i < rounds; ++i) {
    for (const char* text : {"a", "at", "att", "attn", "size > 1 MiB and module ~ attn", ""})
      bench.Time(*text == '\0' ? "search everything: cleared" : "search everything: a key",
                 [&] { window.searchPanel()->search(QLatin1String(text)); });
  }
  for (int i = 0; i < rounds; ++i) {
    for (const QString& page : window.pageNames()) {
      if (page == QLatin1String("phases")) continue;
      const std::string name = page.toStdString();
      bench.Time("tab " + name, [&] { window.openPage(page); });
      bench.Time("wheel beside " + name, [&] { bench.Wheel(i % 2 == 0); });
      bench.Time("tab phases", [&] { window.openPage(QStringLiteral("phases")); });
    }
  }
  // Measures responses to the wheel while a page computes.
  for (const char* page : {"reclaim", "what-if"}) {
    window.openPage(QLatin1String(page));
    if (QLatin1String(page) == QLatin1String("what-if"))
      window.openPage(QStringLiteral("reclaim")), window.openPage(QLatin1String(page));
    for (int i = 0; i < rounds; ++i)
      bench.Time(std::string("wheel, computing ") + page, [&] { bench.Wheel(i % 2 == 0); });
  }
  window.openPage(QStringLiteral("what-if"));
  for (int i = 0; i < rounds; ++i) {
    const QString conf = QStringLiteral("max_split_size_mb:%1").arg(128 + 64 * (i % 4));
    bench.Time("replay under settings", [&] { window.explainPanel()->setConf(conf); });
    window.explainPanel()->setConf(QStringLiteral("expandable_segments:True"));
    bench.Time("cancel a replay", [&] { window.explainPanel()->cancel(); });
  }
  window.openPage(QStringLiteral("phases"));
  for (int i = 0; i < rounds; ++i) {
    bench.Time("resize", [&] { window.resize(1680 - 40 * (i % 4 + 1), 1050 - 20 * (i % 3)); });
    bench.Time("theme", [&] {
      window.setThemeChoice(i % 2 == 0 ? ui::ThemeChoice::kLight : ui::ThemeChoice::kDark);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  std::vector<std::string> words(argv + 1, argv + argc);
  QTemporaryDir folder;
  std::string file;
  if (words.size() >= 2 && words[0] == "--events") {
    file = folder.filePath(QStringLiteral("made.pickle")).toStdString();
    const absl::Status made =
        bench::WriteSnapshot({.events = std::strtoull(words[1].c_str(), nullptr, 10)}, file);
    if (!made.ok()) {
      std::fprintf(stderr, "window_bench: %s\n", std::string(made.message()).c_str());
      return 1;
    }
    words.erase(words.begin());
  } else if (!words.empty()) {
    file = words[0];
  }
  if (file.empty()) {
    std::fprintf(stderr, "usage: window_bench FILE|--events N [ROUNDS [ONLY]]\n");
    return 2;
  }
  const int rounds = words.size() > 1 ? std::max(1, std::atoi(words[1].c_str())) : 5;
  // As in normal use, runs within exec(): outside of it, Qt does not notify widgets of a changed
  // palette.
  QTimer::singleShot(0, &app, [&] {
    Bench bench(QString::fromStdString(file));
    if (words.size() > 2) bench.only = words[2];
    const bool opened = bench.Open();
    if (opened) {
      Run(bench, rounds);
      bench.Print();
    } else {
      std::fprintf(stderr, "window_bench: %s was not opened\n", file.c_str());
    }
    QApplication::exit(opened ? 0 : 1);
  });
  return QApplication::exec();
}
