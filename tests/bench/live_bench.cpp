// Measures whether the real window keeps up with a run that sends a million events per second: the
// events that it accepts, the time that its thread has left for frames, and the growth of memory.
//
//   xvfb-run -a -s "-screen 0 1920x1080x24" live_bench [SECONDS [EVENTS_A_SECOND [STREAMS]]]
//
// The window starts this program again as its worker, which speaks the worker's protocol and sends
// a synthetic run at that rate. The view moves every 16 ms. Each second, the benchmark prints: the
// events in the shown trace; the painted frames; the longest time without a frame, with the CPU
// time of the window's thread in it; the total CPU time of that thread; the memory of the process;
// and by how much that grew since the first event, divided by the events sent.
#include <malloc.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QTemporaryDir>
#include <QTimer>
#include <QWheelEvent>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "profiler/trace/frame.h"
#include "profiler/trace/writer.h"
#include "proto/worker.pb.h"
#include "tests/bench/long_run.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace {

using namespace vramscope;
using Clock = std::chrono::steady_clock;

constexpr int kFrameMs = 16;

struct Pace {
  double seconds = 10, rate = 1e6;
  int streams = 0;
};

// --- the worker ---

void WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(1, bytes.data(), bytes.size());
    if (n <= 0) std::_Exit(0);  // the window has ended
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void SendFrame(trace::FrameType type, const google::protobuf::MessageLite& message) {
  WriteAll(trace::EncodeFrame(type, message.SerializeAsString(), trace::Compression::kNone));
}

// Sends the events for 10 ms at a time. At the end, prints to standard error how late it
// was.
void SendRun(const Pace& pace) {
  auto writer = trace::TraceWriter::ToSink([](std::string_view bytes) {
    WriteAll(bytes);
    return absl::OkStatus();
  });
  bench::LongRun run(pace.streams, 4);
  writer->Begin(run.info());
  writer->Strings(0, run.strings());
  const auto begin = Clock::now();
  const auto all = static_cast<size_t>(pace.seconds * pace.rate);
  const auto piece = std::max<size_t>(1, static_cast<size_t>(pace.rate / 100));
  std::vector<trace::Event> events;
  std::vector<trace::Activity> activities;
  double late = 0;
  size_t sent = 0;
  while (sent < all) {
    run.Next(&events, &activities);
    const double ratio =
        static_cast<double>(activities.size()) / static_cast<double>(events.size());
    size_t activity = 0;
    for (size_t at = 0; at < events.size(); at += piece) {
      const size_t n = std::min(piece, events.size() - at);
      writer->Events(std::span(events).subspan(at, n));
      const auto until = std::min(
          activities.size(), static_cast<size_t>(std::ceil(static_cast<double>(at + n) * ratio)));
      if (until > activity)
        writer->Activities(std::span(activities).subspan(activity, until - activity));
      sent += n + until - activity;
      activity = until;
      writer->Flush();
      const auto due =
          begin + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(static_cast<double>(sent) / pace.rate));
      late = std::chrono::duration<double>(Clock::now() - due).count();
      if (late < 0) std::this_thread::sleep_until(due);
    }
  }
  std::fprintf(stderr, "sent %zu, at last %.2f s late\n", sent, std::max(0.0, late));
  writer->End(true, "");
  if (!writer->Close().ok()) std::_Exit(4);
}

int Work(const Pace& pace) {
  proto::Hello hello;
  hello.set_protocol(1);
  hello.set_version("bench");
  hello.add_backends("plan");
  hello.set_pid(getpid());
  SendFrame(trace::FrameType::kHello, hello);
  trace::FrameDecoder decoder;
  while (true) {
    auto frame = decoder.Next();
    if (!frame.ok()) return 3;
    if (!frame->has_value()) {
      char buffer[1 << 16];
      const ssize_t n = read(0, buffer, sizeof buffer);
      if (n <= 0) return 0;
      decoder.Append({buffer, static_cast<size_t>(n)});
      continue;
    }
    proto::Request request;
    if (!request.ParseFromString((*frame)->payload)) return 3;
    if (request.has_shutdown()) return 0;
    if (!request.has_run()) continue;
    proto::RunStarted started;
    started.set_tag(request.run().tag());
    SendFrame(trace::FrameType::kRunStarted, started);
    SendRun(pace);
    proto::RunEnded ended;
    ended.set_tag(request.run().tag());
    SendFrame(trace::FrameType::kRunEnded, ended);
  }
}

// --- the window ---

double ThreadMs() {
  timespec at{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) * 1e3 + static_cast<double>(at.tv_nsec) / 1e6;
}

double HeapBytes() {
  const auto info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// Counts frames of the canvas and measures the longest time without a frame.
class Pictures : public QObject {
 public:
  explicit Pictures(QWidget* canvas) : canvas_(canvas) {
    canvas->installEventFilter(this);
    since_.start();
  }
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (watched == canvas_ && event->type() == QEvent::Paint) {
      ++count;
      const double ms = static_cast<double>(since_.nsecsElapsed()) / 1e6, thread = ThreadMs();
      if (ms > longest_ms) {
        longest_ms = ms;
        longest_thread_ms = thread - thread_ms_;
      }
      thread_ms_ = thread;
      since_.restart();
    }
    return false;
  }
  int count = 0;
  double longest_ms = 0;
  double longest_thread_ms = 0;  // CPU time of the window's thread within longest_ms

 private:
  QWidget* canvas_;
  QElapsedTimer since_;
  double thread_ms_ = 0;
};

class Bench {
 public:
  Bench(const QString& worker, const Pace& pace)
      : pace_(pace),
        window_(
            ui::MainWindowOptions{.worker_program = worker,
                                  .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                                  .savings = false}),
        pictures_(window_.timelineWidget()) {
    window_.resize(1680, 1050);
    window_.show();
    before_ = HeapBytes();
    QObject::connect(window_.worker(), &ui::WorkerClient::runEnded, &window_, [this] { End(); });
    QObject::connect(&frame_, &QTimer::timeout, &window_, [this] { Move(); });
    QObject::connect(&second_, &QTimer::timeout, &window_, [this] { Line(); });
    frame_.setTimerType(Qt::PreciseTimer);
    std::printf("%8s %12s %10s %12s %12s %12s %10s %12s\n", "s", "events", "pictures", "longest ms",
                "of thread", "thread ms", "heap MB", "bytes/event");
    window_.runConfig({});
    since_.start();
    frame_.start(kFrameMs);
    second_.start(1000);
  }

 private:
  void Move() {
    auto* canvas = window_.timelineWidget();
    const QPointF at(canvas->width() * 0.5, canvas->height() * 0.4);
    forth_ = !forth_;
    QWheelEvent event(at, canvas->mapToGlobal(at), {}, QPoint(0, forth_ ? 120 : -120), Qt::NoButton,
                      Qt::ShiftModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas, &event);
    canvas->update();
  }
  void Line() {
    const double thread = ThreadMs(), heap = HeapBytes();
    const auto digest = window_.digest();
    const double rows = digest == nullptr ? 0
                                          : static_cast<double>(digest->trace->events.size()) +
                                                digest->trace->activities.size();
    const double seconds = static_cast<double>(since_.nsecsElapsed()) / 1e9;
    std::printf("%8.1f %12.0f %10d %12.1f %12.1f %12.0f %10.1f %12.1f\n", seconds, rows,
                pictures_.count, pictures_.longest_ms, pictures_.longest_thread_ms,
                thread - thread_ms_, heap / 1e6,
                (heap - before_) / std::max(1.0, std::min(seconds, pace_.seconds) * pace_.rate));
    std::fflush(stdout);
    thread_ms_ = ThreadMs();
    pictures_.count = 0;
    pictures_.longest_ms = pictures_.longest_thread_ms = 0;
  }
  void End() {
    // Wait() measures the memory of the whole run once all work is done. Until then, the view keeps
    // moving.
    QTimer::singleShot(0, &window_, [this] { Wait(); });
  }
  void Wait() {
    if (!window_.settled()) {
      QTimer::singleShot(50, &window_, [this] { Wait(); });
      return;
    }
    frame_.stop();
    std::printf("settled:\n");
    malloc_trim(0);
    Line();
    std::fputs(window_.worker()->log().toUtf8().constData(), stdout);
    QApplication::exit(0);
  }

  const Pace pace_;
  QTemporaryDir folder_;
  ui::MainWindow window_;
  Pictures pictures_;
  QTimer frame_, second_;
  QElapsedTimer since_;
  double before_ = 0, thread_ms_ = 0;
  bool forth_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool works = !words.empty() && words.back() == "--stdio";
  if (works) words.pop_back();
  Pace pace;
  if (!words.empty()) pace.seconds = std::atof(words[0].c_str());
  if (words.size() > 1) pace.rate = std::atof(words[1].c_str());
  if (words.size() > 2) pace.streams = std::atoi(words[2].c_str());
  if (pace.seconds <= 0 || pace.rate < 100) {
    std::fprintf(stderr, "usage: live_bench [SECONDS [EVENTS_A_SECOND [STREAMS]]]\n");
    return 2;
  }
  if (works) return Work(pace);
  QApplication app(argc, argv);
  const QString worker = QStringLiteral("%1 %2 %3 %4")
                             .arg(QCoreApplication::applicationFilePath())
                             .arg(pace.seconds)
                             .arg(pace.rate)
                             .arg(pace.streams);
  std::optional<Bench> bench;
  QTimer::singleShot(0, &app, [&] { bench.emplace(worker, pace); });
  const int status = QApplication::exec();
  bench.reset();
  return status;
}
