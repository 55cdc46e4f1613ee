// Starts vramscope-worker, sends it runs, collects what comes back into traces. Both the window and
// the command line use it. Qt Core only; lives in one thread (with an event loop).
//
// One run at a time: run() while another one goes on cancels that and waits for its end; of the
// replaced run no signal comes any more. A worker that dies, says what is no frame, or does not
// answer is replaced, after 0.1 s, then 0.5 s; after the third quick death in a row (each within
// 10 s of its start) the client gives up, says so through workerLost, and tries once more with
// every later start() or run().
//
//   WorkerClient client(FindWorker());
//   connect(&client, &WorkerClient::runEnded, ...);
//   client.start();                       // one warm process, another when it dies or is worn out
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

// This tree's worker (profiler/base/install_paths.h), else the one on PATH; empty when there is
// none. $VRAMSCOPE_WORKER wins; it may be a command with arguments ("ssh host vramscope-worker").
QString FindWorker();

class WorkerClient : public QObject {
  Q_OBJECT
 public:
  explicit WorkerClient(QString worker_program, QObject* parent = nullptr);
  ~WorkerClient() override;

  // Beside those that it always has ("--backend", "cuda"); before start().
  void setArguments(QStringList arguments);
  void start();
  quint64 run(const run::RunConfig& config);
  void cancel();
  bool busy() const;
  bool running() const;      // the process is up and has said hello
  bool givenUp() const;      // no process, and none is being started
  qint64 processId() const;  // of the worker; 0 when there is none
  // What the worker wrote to its standard error, the last 64 KiB, over all restarts.
  QString log() const;

  // How long a worker may take to say hello, and to end a run after it was told to cancel, before
  // it is killed and replaced.
  void setTimeouts(int hello_ms, int cancel_ms);

  // How the last run ended, set before runEnded: an absl::StatusCode (0: success; kUnavailable: the
  // worker was lost), and the worker's own wall time. The command line's exit status needs them.
  int lastStatusCode() const;
  double lastSeconds() const;
  QString workerVersion() const;  // from its hello; empty before it

 Q_SIGNALS:
  void ready();
  void runStarted(quint64 tag);
  void progress(quint64 tag, int step, int steps, const QString& text);
  // What arrived so far, at most every 100 ms during a long run.
  void partialTrace(quint64 tag, std::shared_ptr<const trace::Trace> trace);
  // `error` empty: success. The trace is there in any case, with what arrived (may be null).
  void runEnded(quint64 tag, std::shared_ptr<const trace::Trace> trace, const QString& error);
  // The process went away (killed, crashed): what happened, and what comes next (another one is
  // being started, or not). A run that was in progress ends (runEnded) before this comes.
  void workerLost(const QString& what);
  // What it has written to its standard error since, in whole lines, at most every 50 ms.
  void logged(const QString& lines);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::ui
