// Starts vramscope-worker, sends it runs, collects what comes back into traces. Both the window and
// the command line use it. Qt Core only; lives in one thread (with an event loop).
//
//   WorkerClient client(FindWorker());
//   connect(&client, &WorkerClient::runEnded, ...);
//   client.start();                       // one warm process, restarted when it dies
//   uint64_t tag = client.run(config);    // cancels and replaces a run in progress
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <memory>

#include "profiler/run/run_config.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui {

// The worker beside this program, else on PATH; empty when there is none. $VRAMSCOPE_WORKER wins.
QString FindWorker();

class WorkerClient : public QObject {
  Q_OBJECT
 public:
  explicit WorkerClient(QString worker_program, QObject* parent = nullptr);
  ~WorkerClient() override;

  void start();
  quint64 run(const run::RunConfig& config);
  void cancel();
  bool busy() const;
  bool running() const;  // the process is up and has said hello

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
  // The process went away (killed, crashed): what happened. Another one is being started.
  void workerLost(const QString& what);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::ui
