#include "ui/worker/worker_client.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QMetaMethod>
#include <QProcess>
#include <QTimer>
#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/run/arena_message.h"
#include "profiler/trace/frame.h"
#include "proto/worker.pb.h"
#include "ui/worker/assembly.h"
#include "ui/worker/end_reason.h"

namespace vramscope::ui {
namespace {

constexpr int kProtocol = 1;
constexpr qsizetype kLogBytes = 64 << 10;
constexpr int kLogPauseMs = 50;  // minimum time between two `logged` signals
// If a worker ends within this time after its start, this is a quick death. The client gives up
// after kMaxQuickDeaths quick deaths in a row.
constexpr qint64 kQuickDeathMs = 10'000;
constexpr int kMaxQuickDeaths = 3;
constexpr int kRestartMs[kMaxQuickDeaths - 1] = {100, 500};
constexpr int kHelloMs = 60'000;  // loading LibTorch from a slow disk takes tens of seconds
constexpr int kCancelMs = 5'000;  // the trainer checks for a cancellation at every operator
#ifdef __SANITIZE_ADDRESS__
constexpr int kShutdownMs = 60'000;  // a process looks for leaks at its end
#else
constexpr int kShutdownMs = 200;
#endif
constexpr size_t kMostMessageBytes = size_t{1} << 20;  // limit for messages outside the trace

constexpr int kCodeOk = 0;
constexpr int kCodeCancelled = 1;
constexpr int kCodeInternal = 13;
constexpr int kCodeUnavailable = 14;

QString FromUtf8(const std::string& text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

struct WorkerClient::Impl {
  enum class State { kStopped, kStarting, kReady, kGivenUp };
  struct Queued {
    quint64 tag = 0;
    std::string config;    // serialized message of proto/run.proto
    bool renewed = false;  // whether the run was already moved to a new worker once
  };
  struct Active {
    Queued asked;  // kept, because the run may have to be repeated in a new process
    quint64 tag = 0;
    bool cancelling = false;
    bool replaced = false;  // replaced by another run; emits no more signals
    bool ending = false;    // the worker has finished, but its frames are still being assembled
    std::unique_ptr<Assembly> assembly;
  };

  // The loss of a worker that has not been reported yet.
  struct Loss {
    std::optional<Queued> given_up;  // a queued run that will not be started any more
    QString ended, text;
  };

  WorkerClient* self;
  QString program;
  QStringList more_arguments;
  std::unique_ptr<QProcess> process;
  trace::FrameDecoder decoder;
  State state = State::kStopped;
  QElapsedTimer since_start;
  bool said_hello = false;
  bool hopeless = false;  // whether a restart would not change anything
  int quick_deaths = 0;
  QTimer restart, hello_limit, cancel_limit;
  int hello_ms = kHelloMs;
  int cancel_ms = kCancelMs;

  quint64 next_tag = 1;
  std::optional<Queued> queued;
  std::optional<Active> active;
  std::optional<Loss> untold_loss;
  bool draining = false;  // whether the process has ended and its last output is being read

  QByteArray log, unlogged;  // log: its last part; unlogged: text that was not emitted yet
  qsizetype log_left_out = 0;
  QTimer log_pause;
  EndReason kill_reason;  // why the client killed the process
  int last_code = kCodeOk;
  double last_seconds = 0;
  QString version;

  // If memory runs out while Qt makes a connection, the object stays half connected, and its
  // destruction would crash. Because of noexcept, the program ends before that, with the message of
  // std::terminate (profiler/trace/terminate.h).
  Impl(WorkerClient* s, QString p) noexcept : self(s), program(std::move(p)) {
    for (QTimer* timer : {&restart, &hello_limit, &cancel_limit, &log_pause})
      timer->setSingleShot(true);
    // Emit only whole lines, unless an unfinished line fills the whole buffer.
    QObject::connect(&log_pause, &QTimer::timeout, self, [this] {
      const qsizetype whole = unlogged.lastIndexOf('\n') + 1;
      TellLog(whole > 0 || unlogged.size() < kLogBytes ? whole : unlogged.size());
    });
    QObject::connect(&restart, &QTimer::timeout, self, [this] { StartProcess(); });
    QObject::connect(&hello_limit, &QTimer::timeout, self, [this] {
      Kill(EndReason::Of([this] {
        return i18n::Format("the worker did not respond within {} s of its start",
                            hello_ms / 1000.0);
      }));
    });
    QObject::connect(&cancel_limit, &QTimer::timeout, self, [this] {
      Kill(EndReason::Of([this] {
        return i18n::Format("the worker did not stop within {} s of the request to cancel",
                            cancel_ms / 1000.0);
      }));
    });
  }

  void StartProcess() {
    kill_reason = {};
    version.clear();
    said_hello = hopeless = false;
    decoder = trace::FrameDecoder();
    state = State::kStarting;
    since_start.start();
    if (program.isEmpty()) {
      // Report the error later in the event loop, so that the caller of start() can connect signals
      // first.
      QTimer::singleShot(0, self, [this] {
        hopeless = true;
        Lost(EndReason::Of([] {
          return i18n::Text(
              "vramscope-worker was not found next to this program or on the PATH; build it with "
              "./vramscope, or set $VRAMSCOPE_WORKER");
        }));
      });
      return;
    }
    process = std::make_unique<QProcess>();
    QProcess* p = process.get();
    QObject::connect(p, &QProcess::readyReadStandardOutput, self, [this] { Read(); });
    QObject::connect(p, &QProcess::readyReadStandardError, self, [this] { ReadLog(); });
    QObject::connect(p, &QProcess::errorOccurred, self, [this](QProcess::ProcessError error) {
      if (error == QProcess::FailedToStart)
        Lost(EndReason::Of([this] {
          return i18n::Format("{} could not be started: {}", program.toStdString(),
                              process->errorString().toStdString());
        }));
    });
    QObject::connect(p, &QProcess::finished, self,
                     [this](int code, QProcess::ExitStatus status) { Finished(code, status); });
    QString executable = program;
    QStringList arguments;
    if (!QFileInfo::exists(program)) {
      arguments = QProcess::splitCommand(program);
      if (!arguments.isEmpty()) executable = arguments.takeFirst();
    }
    arguments << QStringLiteral("--stdio") << more_arguments;
    // Do not start the process in a working directory that was deleted, because MKL would not find
    // its libraries.
    if (const QString here = QDir::currentPath(); here.isEmpty() || !QFileInfo::exists(here))
      p->setWorkingDirectory(QDir::rootPath());
    hello_limit.start(hello_ms);
    p->start(executable, arguments);
  }

  void Finished(int code, QProcess::ExitStatus status) {
    draining = true;
    if (kill_reason.shown.empty()) Read();
    ReadLog();
    FlushLog();
    draining = false;
    if (!kill_reason.shown.empty()) {
      EndReason stopped{i18n::Format("The worker was stopped: {}", kill_reason.shown), {}};
      const i18n::InEnglish english;
      stopped.in_trace = i18n::Format("The worker was stopped: {}", kill_reason.in_trace);
      Lost(stopped);
    } else if (status == QProcess::CrashExit) {
      Lost(EndReason::Of(
          [code] { return i18n::Format("The worker was ended by {}", SignalName(code)); }));
    } else {
      Lost(EndReason::Of(
          [code] { return i18n::Format("The worker ended with exit status {}", code); }));
    }
  }

  // Called when the process has ended or could not be started.
  void Lost(const EndReason& why) {
    hello_limit.stop();
    cancel_limit.stop();
    // Delete the process later, because one of its signals may have called this function.
    if (process) {
      process->disconnect(self);
      process.release()->deleteLater();
    }
    const bool quick = !said_hello || since_start.elapsed() < kQuickDeathMs;
    quick_deaths = quick ? quick_deaths + 1 : 1;
    const bool again = !hopeless && quick_deaths < kMaxQuickDeaths;
    state = again ? State::kStarting : State::kGivenUp;
    if (again) restart.start(kRestartMs[quick_deaths - 1]);

    const auto sentence = [](std::string text) { return text.ends_with('.') ? text : text + "."; };
    const QString ended = FromUtf8(sentence(why.shown));
    // Only the window's text states what happens next. The trace's text does not, because it may be
    // read much later.
    QString text = ended;
    text +=
        QLatin1Char(' ') + FromUtf8(again ? i18n::Text("A new worker is being started.")
                                          : i18n::Text("The worker is not restarted automatically; "
                                                       "the next run starts a new worker."));
    last_seconds = 0;
    TellLost();  // first reports the previous loss, if there is one
    // Take `queued` now, because a slot of runEnded may queue another run, which must not be taken.
    untold_loss.emplace(Loss{again ? std::nullopt : std::exchange(queued, {}), ended, text});
    if (!active || active->ending) {
      TellLost();
    } else if (!active->assembly || active->replaced) {
      EndActive(kCodeUnavailable, ended, nullptr);
      TellLost();
    } else {
      // The run's frames are still being assembled, so end the run when they are.
      cancel_limit.stop();
      active->ending = true;
      active->assembly->FinishLater(
          sentence(why.in_trace), [this, tag = active->tag, ended](const std::string&, auto trace) {
            QMetaObject::invokeMethod(
                self,
                [this, tag, ended, trace = std::move(trace)]() mutable {
                  if (!active || active->tag != tag) return;
                  EndActive(kCodeUnavailable, ended, std::move(trace));
                  TellLost();
                  SendQueued();
                },
                Qt::QueuedConnection);
          });
    }
  }

  // Reports the loss of a worker. Called after the run's result has been reported.
  void TellLost() {
    if (!untold_loss) return;
    const Loss loss = *std::exchange(untold_loss, {});
    if (loss.given_up) {
      last_code = kCodeUnavailable;
      Q_EMIT self->runEnded(loss.given_up->tag, nullptr, loss.ended);
    }
    Q_EMIT self->workerLost(loss.text);
  }

  void Kill(EndReason reason) {
    if (!process || process->state() == QProcess::NotRunning) return;
    kill_reason = std::move(reason);
    process->kill();
  }

  void ReadLog() {
    if (!process) return;
    const QByteArray bytes = process->readAllStandardError();
    if (bytes.isEmpty()) return;
    log += bytes;
    if (log.size() > kLogBytes) log.remove(0, log.size() - kLogBytes);
    unlogged += bytes;
    if (unlogged.size() > kLogBytes) {
      // If the worker writes faster than the log is read, keep only the last part and count the
      // omitted bytes.
      const qsizetype surplus = unlogged.size() - kLogBytes;
      const qsizetype line = unlogged.indexOf('\n', surplus) + 1;
      log_left_out += TakeLog(line > 0 ? line : surplus).size();
    }
    if (!log_pause.isActive()) log_pause.start(kLogPauseMs);
  }

  void TellLog(qsizetype bytes) {
    QString text = QString::fromUtf8(TakeLog(bytes)).trimmed();
    if (const qsizetype left_out = std::exchange(log_left_out, 0); left_out > 0)
      text.prepend(
          FromUtf8(i18n::Format("({} bytes of the worker's log were omitted)\n", left_out)));
    if (!text.isEmpty()) Q_EMIT self->logged(text);
  }

  QByteArray TakeLog(qsizetype bytes) {
    const QByteArray taken = unlogged.first(bytes);
    unlogged.remove(0, bytes);
    return taken;
  }

  // Emits the rest of a worker's log, even if its last line does not end with a newline.
  void FlushLog() {
    log_pause.stop();
    TellLog(unlogged.size());
  }

  void Read() {
    if (!process || !kill_reason.shown.empty()) return;
    const QByteArray bytes = process->readAllStandardOutput();
    decoder.Append(std::string_view(bytes.constData(), static_cast<size_t>(bytes.size())));
    const QProcess* reading = process.get();
    while (true) {
      absl::StatusOr<std::optional<trace::RawFrame>> frame = decoder.NextUnverified();
      if (!frame.ok()) {
        Garbled(std::string(frame.status().message()));
        return;
      }
      if (!frame->has_value()) break;
      const trace::FrameType type = (*frame)->type;
      if (IsOfTrace(type)) {
        TakeOfTrace(**std::move(frame));
      } else if (const absl::Status taken = TakeMessage(**std::move(frame)); !taken.ok()) {
        Garbled(std::string(taken.message()));
        return;
      }
      // Stop reading if a slot has ended or replaced the process.
      if (process.get() != reading) return;
    }
  }

  void Garbled(const std::string& why) {
    EndReason reason = EndReason::Of(
        [&why] { return i18n::Format("the worker's output could not be decoded ({})", why); });
    if (draining) {
      kill_reason = std::move(reason);
    } else {
      Kill(std::move(reason));
    }
  }

  static bool IsOfTrace(trace::FrameType type) {
    switch (type) {
      case trace::FrameType::kTraceHeader:
      case trace::FrameType::kStrings:
      case trace::FrameType::kStacks:
      case trace::FrameType::kEvents:
      case trace::FrameType::kActivities:
      case trace::FrameType::kFooter:
      case trace::FrameType::kEnd:
        return true;
      default:
        return false;
    }
  }

  // Passes the frame on as it was received. The assembly will verify and decompress it.
  void TakeOfTrace(trace::RawFrame frame) {
    if (active && active->assembly && !active->replaced && !active->ending &&
        frame.type != trace::FrameType::kEnd)
      active->assembly->Add(std::move(frame));
  }

  absl::Status TakeMessage(trace::RawFrame raw) {
    const auto type = static_cast<int>(raw.type);
    const absl::Status unreadable =
        absl::DataLossError(i18n::Format("an unreadable message of type {}", type));
    if (raw.payload_size > kMostMessageBytes || raw.stored.size() > kMostMessageBytes)
      return unreadable;
    absl::StatusOr<trace::Frame> frame = trace::Uncompress(std::move(raw));
    if (!frame.ok()) return frame.status();
    return Take(*std::move(frame)) ? absl::OkStatus() : unreadable;
  }

  bool Take(trace::Frame frame) {
    switch (frame.type) {
      case trace::FrameType::kHello: {
        proto::Hello hello;
        if (!hello.ParseFromString(frame.payload)) return false;
        hello_limit.stop();
        if (hello.protocol() != kProtocol) {
          hopeless = true;  // a new process would send the same protocol version
          Kill(EndReason::Of([&hello] {
            return i18n::Format(
                "the worker uses protocol {}, but this program uses protocol {}; build both from "
                "the same version",
                hello.protocol(), kProtocol);
          }));
          return true;
        }
        said_hello = true;
        version = FromUtf8(hello.version());
        state = State::kReady;
        Q_EMIT self->ready();
        SendQueued();
        return true;
      }
      case trace::FrameType::kRunStarted: {
        proto::RunStarted started;
        if (!started.ParseFromString(frame.payload)) return false;
        // Ignore a second RunStarted message, which would discard the frames received so far.
        if (active && started.tag() == active->tag && !active->assembly && !active->ending) {
          active->assembly =
              std::make_unique<Assembly>(OnTraceOf(active->tag), DamagedOf(active->tag));
          if (!active->replaced) Q_EMIT self->runStarted(active->tag);
        }
        return true;
      }
      case trace::FrameType::kProgress: {
        proto::Progress progress;
        if (!progress.ParseFromString(frame.payload)) return false;
        if (active && progress.tag() == active->tag && !active->replaced)
          Q_EMIT self->progress(active->tag, static_cast<int>(progress.step()),
                                static_cast<int>(progress.steps()), FromUtf8(progress.text()));
        return true;
      }
      case trace::FrameType::kRunEnded: {
        proto::RunEnded ended;
        if (!ended.ParseFromString(frame.payload)) return false;
        if (!active || ended.tag() != active->tag || active->ending) return true;
        quick_deaths = 0;  // the worker can complete a run, so start counting anew
        if (ended.needs_new_process() && !active->asked.renewed && !active->replaced &&
            !active->cancelling) {
          RunInNewProcess();
          return true;
        }
        last_seconds = ended.seconds();
        int code = static_cast<int>(ended.status_code());
        // Translate messages that have no arguments here, because the worker has no translator.
        EndWhenTakenIn(code, code == kCodeOk ? EndReason() : EndReason::Of([&] {
                         return ended.message().empty()
                                    ? i18n::Format("The run failed (status {}).", code)
                                    : std::string(i18n::Text(ended.message()));
                       }));
        return true;
      }
      // Ignore messages that were added in later versions.
      default:
        return true;
    }
  }

  // Repeats the run in a new process, without emitting a signal. This worker works, but cannot
  // execute this run.
  void RunInNewProcess() {
    queued = std::move(active->asked);
    queued->renewed = true;
    active.reset();
    ReadLog();
    FlushLog();
    proto::Request request;
    request.mutable_shutdown();
    Send(request);
    process->disconnect(self);
    process->setParent(self);
    QObject::connect(process.get(), &QProcess::finished, process.get(), &QObject::deleteLater);
    QTimer::singleShot(kShutdownMs, process.get(), [old = process.get()] { old->kill(); });
    process.release()->closeWriteChannel();
    StartProcess();
  }

  // Returns an empty function if nothing is connected to partialTrace, as in the command line.
  Assembly::OnTrace OnTraceOf(quint64 tag) {
    if (!self->isSignalConnected(QMetaMethod::fromSignal(&WorkerClient::partialTrace))) return {};
    return [this, tag](std::shared_ptr<const trace::Trace> trace) {
      QMetaObject::invokeMethod(
          self,
          [this, tag, trace = std::move(trace)]() mutable {
            if (active && active->tag == tag && !active->replaced && !draining)
              Q_EMIT self->partialTrace(tag, std::move(trace));
          },
          Qt::QueuedConnection);
    };
  }

  // Handles damage that the assembly's thread finds in the same way as damage that this thread
  // finds.
  Assembly::Damaged DamagedOf(quint64 tag) {
    return [this, tag](const absl::Status& why) {
      QMetaObject::invokeMethod(
          self,
          [this, tag, text = std::string(why.message())] {
            if (active && active->tag == tag && !active->ending) Garbled(text);
          },
          Qt::QueuedConnection);
    };
  }

  // Ends the run when its frames are assembled. Does not block this thread.
  void EndWhenTakenIn(int code, const EndReason& why) {
    cancel_limit.stop();
    active->ending = true;
    const auto end = [this, tag = active->tag, code, error = FromUtf8(why.shown)](
                         const std::string& refused, std::shared_ptr<const trace::Trace> trace) {
      if (!active || active->tag != tag) return;
      const bool good = code != kCodeOk || refused.empty();
      EndActive(good ? code : kCodeInternal, good ? error : FromUtf8(refused), std::move(trace));
      SendQueued();
    };
    if (!active->assembly || active->replaced) {
      end("", nullptr);
      return;
    }
    active->assembly->FinishLater(why.in_trace, [this, end](std::string refused, auto trace) {
      QMetaObject::invokeMethod(
          self,
          [end, refused = std::move(refused), trace = std::move(trace)]() mutable {
            end(refused, std::move(trace));
          },
          Qt::QueuedConnection);
    });
  }

  void EndActive(int code, const QString& error, std::shared_ptr<const trace::Trace> trace) {
    cancel_limit.stop();
    const Active run = std::move(*active);
    active.reset();
    if (run.replaced) return;
    last_code = code;
    Q_EMIT self->runEnded(run.tag, std::move(trace), error);
  }

  void Send(const proto::Request& request) {
    const std::string bytes = trace::EncodeFrame(
        trace::FrameType::kRequest, request.SerializeAsString(), trace::Compression::kNone);
    process->write(bytes.data(), static_cast<qint64>(bytes.size()));
  }

  void SendQueued() {
    if (!queued || active || state != State::kReady) return;
    Queued next = std::move(*queued);
    queued.reset();
    const run::ArenaMessage<proto::Request> request;
    proto::Request::Run* run = request->mutable_run();
    run->set_tag(next.tag);
    if (!run->mutable_config()->ParseFromString(next.config)) {
      last_code = kCodeInternal;
      Q_EMIT self->runEnded(next.tag, nullptr,
                            FromUtf8(i18n::Text("The configuration could not be encoded.")));
      return;
    }
    active.emplace();
    active->tag = next.tag;
    active->asked = std::move(next);
    Send(*request);
  }

  void CancelActive() {
    if (!active || active->cancelling || active->ending || state != State::kReady) return;
    active->cancelling = true;
    proto::Request request;
    request.mutable_cancel()->set_tag(active->tag);
    Send(request);
    cancel_limit.start(cancel_ms);
  }
};

WorkerClient::WorkerClient(QString worker_program, QObject* parent)
    : QObject(parent), impl_(std::make_unique<Impl>(this, std::move(worker_program))) {}

WorkerClient::~WorkerClient() {
  if (!impl_->process) return;
  // Read the rest of the log now, because a worker for a single run is destroyed as soon as its run
  // has ended.
  impl_->ReadLog();
  impl_->FlushLog();
  QProcess& process = *impl_->process;
  process.disconnect(this);
  if (impl_->state == Impl::State::kReady && !impl_->active) {
    proto::Request request;
    request.mutable_shutdown();
    impl_->Send(request);
    process.waitForBytesWritten(kShutdownMs);
    process.closeWriteChannel();
    if (process.waitForFinished(kShutdownMs)) return;
  }
  process.kill();
  if (process.waitForFinished(kShutdownMs)) return;
  // Do not wait for the process any longer, because it hangs in the kernel, for example in a
  // driver.
  QObject::connect(&process, &QProcess::finished, &process, &QObject::deleteLater);
  impl_->process.release();
}

void WorkerClient::setArguments(QStringList arguments) {
  impl_->more_arguments = std::move(arguments);
}

void WorkerClient::start() {
  if (impl_->state == Impl::State::kStopped || impl_->state == Impl::State::kGivenUp)
    impl_->StartProcess();
}

quint64 WorkerClient::run(const run::RunConfig& config) {
  const quint64 tag = impl_->next_tag++;
  impl_->queued = Impl::Queued{.tag = tag, .config = run::ToProtoBytes(config)};
  if (impl_->active && impl_->active->ending) {
    impl_->active.reset();
    impl_->TellLost();
  }
  if (impl_->active) {
    impl_->active->replaced = true;
    impl_->CancelActive();
  } else if (impl_->state == Impl::State::kReady) {
    impl_->SendQueued();
  } else {
    start();
  }
  return tag;
}

void WorkerClient::cancel() {
  if (impl_->queued) {
    const quint64 tag = impl_->queued->tag;
    impl_->queued.reset();
    impl_->last_code = kCodeCancelled;
    Q_EMIT runEnded(tag, nullptr, FromUtf8(i18n::Text("Cancelled before it began.")));
  } else {
    impl_->CancelActive();
  }
}

bool WorkerClient::busy() const {
  return impl_->queued.has_value() || (impl_->active && !impl_->active->replaced);
}
bool WorkerClient::running() const { return impl_->state == Impl::State::kReady; }
bool WorkerClient::givenUp() const { return impl_->state == Impl::State::kGivenUp; }
qint64 WorkerClient::processId() const { return impl_->process ? impl_->process->processId() : 0; }
QString WorkerClient::log() const { return QString::fromUtf8(impl_->log); }
void WorkerClient::setTimeouts(int hello_ms, int cancel_ms) {
  impl_->hello_ms = hello_ms;
  impl_->cancel_ms = cancel_ms;
}
int WorkerClient::lastStatusCode() const { return impl_->last_code; }
double WorkerClient::lastSeconds() const { return impl_->last_seconds; }
QString WorkerClient::workerVersion() const { return impl_->version; }

}  // namespace vramscope::ui
