// Saves images of the canvas in different states, for visual checks. This is not a test.
//   timeline_screenshots OUT_DIR [F.trace [BASELINE.trace]]
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QMouseEvent>
#include <QThread>
#include <cstdio>

#include "profiler/trace/reader.h"
#include "tests/ui/timeline/synthetic_trace.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui::timeline {
namespace {

void Send(QWidget* w, QEvent::Type type, QPointF at, Qt::MouseButton button) {
  QMouseEvent e(type, at, w->mapToGlobal(at), button,
                type == QEvent::MouseMove ? Qt::NoButton : button, Qt::NoModifier);
  QApplication::sendEvent(w, &e);
}

void Save(TimelineWidget* w, const QString& path) {
  w->settle();
  w->grab().save(path);
  std::printf("%s\n", qPrintable(path));
}

int Run(int argc, char** argv) {
  if (argc < 2) return 2;
  QDir dir(argv[1]);
  dir.mkpath(".");
  std::shared_ptr<const trace::Trace> trace, baseline;
  if (argc > 2) {
    auto read = trace::ReadTraceFile(argv[2], {});
    if (!read.ok()) {
      std::fprintf(stderr, "%s\n", read.status().ToString().c_str());
      return 3;
    }
    trace = *read;
    if (argc > 3) {
      if (auto other = trace::ReadTraceFile(argv[3], {}); other.ok()) baseline = *other;
    }
  } else {
    trace = testing::MakeSyntheticTrace({.activation_share = 0.6});
    baseline = testing::MakeSyntheticTrace({});
  }
  for (bool dark : {true, false}) {
    QString name = dark ? "dark" : "light";
    TimelineWidget w;
    w.setAnimations(false);
    w.setTheme(dark ? Theme::Dark() : Theme::Light());
    w.resize(1020, 760);
    w.show();
    Save(&w, dir.filePath(name + "-empty.png"));
    w.setLoading("Reading run.trace", 0.4);
    Save(&w, dir.filePath(name + "-loading.png"));
    w.setLoading("");
    w.setFailed("run.trace could not be read", "frame at byte 1,024: bad checksum",
                "Is the file whole? `vramscope info run.trace` says what can be saved.");
    Save(&w, dir.filePath(name + "-failed.png"));
    w.setFailed("", "");
    w.setTrace(trace);
    Save(&w, dir.filePath(name + "-whole.png"));
    QFile json(dir.filePath(name + "-state.json"));
    if (json.open(QIODevice::WriteOnly)) json.write(QJsonDocument(w.dumpState()).toJson());
    auto body_of = [&](const char* lane) {
      for (const QJsonValue& v : w.dumpState()["lanes"].toArray()) {
        if (v["lane"].toString() != QLatin1String(lane)) continue;
        QJsonArray r = v["body"].toArray();
        return QRectF(r[0].toDouble(), r[1].toDouble(), r[2].toDouble(), r[3].toDouble());
      }
      return QRectF();
    };
    auto at = [&](const char* lane, double x, double y) {
      QRectF r = body_of(lane);
      return QPointF(r.x() + r.width() * x, r.y() + r.height() * y);
    };
    auto hover = [&](QPointF p) {
      Send(&w, QEvent::MouseMove, p, Qt::NoButton);
      for (int i = 0; i < 40; ++i) {
        QApplication::processEvents(QEventLoop::AllEvents, 10);
        QThread::msleep(10);
      }
    };
    hover(at("memory", 0.55, 0.6));
    Save(&w, dir.filePath(name + "-hover-memory.png"));
    hover(at("blocks", 0.45, 0.62));
    Save(&w, dir.filePath(name + "-hover-block.png"));
    QPointF p = at("blocks", 0.45, 0.62);
    Send(&w, QEvent::MouseButtonPress, p, Qt::LeftButton);
    Send(&w, QEvent::MouseButtonRelease, p, Qt::LeftButton);
    QPointF a = at("memory", 0.2, 0.5), b = at("memory", 0.4, 0.5);
    Send(&w, QEvent::MouseButtonPress, a, Qt::LeftButton);
    Send(&w, QEvent::MouseMove, b, Qt::LeftButton);
    Send(&w, QEvent::MouseButtonRelease, b, Qt::LeftButton);
    Save(&w, dir.filePath(name + "-selection.png"));
    w.zoomToSelection();
    w.settle();
    w.setRange(0, 0);
    w.zoomToSelection();
    w.settle();
    for (int i = 0; i < 8; ++i) w.zoomIn();
    Save(&w, dir.filePath(name + "-zoom.png"));
    w.zoomToFit();
    w.clearSelection();
    w.setBaselineTrace(baseline, "baseline");
    if (trace->allocations.size()) w.setDeviceLimit(9ull << 30);
    Save(&w, dir.filePath(name + "-ghost.png"));
    w.resize(520, 420);
    Save(&w, dir.filePath(name + "-small.png"));
    w.resize(1600, 1000);
    Save(&w, dir.filePath(name + "-large.png"));
    // Draws kernels, memcpys and API calls, then a selected kernel and an idle gap under the
    // mouse.
    w.setBaselineTrace(nullptr);
    w.setTrace(argc > 2 ? trace
                        : testing::MakeSyntheticTrace(
                              {.layers = 4, .steps = 2, .activities = {.streams = 3}}));
    w.zoomToFit();
    Save(&w, dir.filePath(name + "-activities.png"));
    if (w.trace()->activities.size() == 0) continue;
    uint32_t kernel = 0;
    while (w.trace()->activities.kind[kernel] != trace::ActivityKind::kKernel) ++kernel;
    w.selectActivity(kernel);
    w.zoomToSelection();
    for (int i = 0; i < 5; ++i) w.zoomOut();
    Save(&w, dir.filePath(name + "-kernel.png"));
    w.settle();
    hover(at("idle/0", 0.6, 0.5));
    Save(&w, dir.filePath(name + "-gap.png"));
  }
  return 0;
}

}  // namespace
}  // namespace vramscope::ui::timeline

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  return vramscope::ui::timeline::Run(argc, argv);
}
