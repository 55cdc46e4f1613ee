// Starts vramscope-worker, sends runs to it, and assembles the frames that it returns into traces.
// The window and the command line use it. Needs only Qt Core. For use by one thread, which must
// have an event loop.
//
// There is at most one run at a time. If a run is in progress, run() cancels it and waits for its
// end; the cancelled run emits no more signals. A worker that dies, sends invalid frames or does
// not respond is replaced, the first time after 0.1 s and the second time after 0.5 s. After three
// quick deaths in a row (within 10 s of the worker's start), the client gives up and emits
// workerLost. Later, each start() or run() tries once more.
//
//   WorkerClient client(FindWorker());
//   connect(&client, &WorkerClient::runEnded, ...);
//   client.start();                       // one warm process; replaced if it dies or requests it
//   uint64_t tag = client.run(config);    // cancels and replaces a run in progress
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <memory>

#include "profiler/run/run_config.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui {

// Returns the path of the worker, which is in this program's tree (profiler/base/install_paths.h)
// or else in PATH. Returns "" if it is in neither. $VRAMSCOPE_WORKER overrides both, and may
// contain arguments ("ssh host vramscope-worker").
QString FindWorker();

class WorkerClient : public QObject {
  Q_OBJECT
 public:
  explicit WorkerClient(QString worker_program, QObject* parent = nullptr);
  ~WorkerClient() override;

  // Sets additional arguments for the worker ("--backend", "cuda"). Call it before start().
  void setArguments(QStringList arguments);
  void start();
  quint64 run(const run::RunConfig& config);
  void cancel();
  bool busy() const;
  bool running() const;      // whether the process has started and sent its hello
  bool givenUp() const;      // whether there is no process, and none is being started
  qint64 processId() const;  // id of the worker's process; 0: none
  // Returns the last 64 KiB of the workers' standard error, including that of workers before a
  // restart.
  QString log() const;

  // Sets how long a worker may take to send its hello, and how long to end a cancelled run. A
  // worker that takes longer is killed and replaced.
  void setTimeouts(int hello_ms, int cancel_ms);

  // How the last run ended. lastStatusCode() is an absl::StatusCode (0: success, kUnavailable: the
  // worker was lost), and determines the command line's exit status. lastSeconds() is the wall time
  // that the worker measured. Both are set before runEnded is emitted.
  int lastStatusCode() const;
  double lastSeconds() const;
  QString workerVersion() const;  // the version in the worker's hello; empty before the hello

 Q_SIGNALS:
  void ready();
  void runStarted(quint64 tag);
  void progress(quint64 tag, int step, int steps, const QString& text);
  // Emitted at most every 100 ms during a long run, with a trace of the events so far.
  void partialTrace(quint64 tag, std::shared_ptr<const trace::Trace> trace);
  // An empty `error` means success. `trace` has all events that arrived, or is null if no events
  // arrived.
  void runEnded(quint64 tag, std::shared_ptr<const trace::Trace> trace, const QString& error);
  // Emitted if the process has ended (killed, crashed). `what` states what happened, and whether
  // another worker is being started. If a run was in progress, runEnded is emitted first.
  void workerLost(const QString& what);
  // Emitted with new whole lines of the worker's standard error, at most every 50 ms.
  void logged(const QString& lines);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::ui
