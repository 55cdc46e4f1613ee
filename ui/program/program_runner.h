// Plans or records anybody's program and shows what it does while it runs: `vramscope plan --
// PROGRAM`, `record`, `record --host user@box` in a
// process of its own (the launcher reaps every child of its process), whose folder is read on a
// pool thread.
//
//   auto* runner = new ProgramRunner(FindVramscope(), this);
//   connect(runner, &ProgramRunner::picture, this, ...);
//   runner->start(request);
//
// UI thread only; the signals come there. What runs is stopped when the runner goes, and nothing
// is left of it.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QTimer>
#include <memory>

#include "profiler/program/launch.h"
#include "profiler/program/request.h"
#include "profiler/trace/trace.h"
#include "ui/jobs/jobs.h"

namespace vramscope::ui {

// This tree's `vramscope` (profiler/base/install_paths.h), else the one on PATH; empty when there
// is none.
QString FindVramscope();

struct ProgramState {
  enum class Stage {
    kIdle,
    kStarting,
    kImported,
    kBuilding,
    kTraining,
    kEnding,
    kStopping,
    kReading
  };
  Stage stage = Stage::kIdle;
  uint64_t step = 0;  // that it is in, from 1; 0: none has begun
  uint64_t events = 0;
  double seconds = 0;
  friend bool operator==(const ProgramState&, const ProgramState&) = default;
};

struct ProgramEnd {
  std::shared_ptr<const trace::Trace> trace = {};  // what arrived; null: nothing did
  bool stopped = false;                            // by the user
  bool out_of_memory = false;                      // that is what it ended for
  // What went wrong, empty where nothing did: in a sentence without its full stop, the place in the
  // user's script ("train.py:12"), and what to do next.
  QString error = {}, place = {}, next = {};
  QString remark = {};  // of one that did not go wrong and did not end as programs do; likewise
  double seconds = 0;
  // Its history on disk, which goes with the last who has this: keep it until the trace is saved.
  std::shared_ptr<const void> folder = {};
};

// What a program left in a folder (ProgramRunner::folder) whose window was killed: one trace of all
// ranks; null: nothing had arrived. Slow; thread-safe.
std::shared_ptr<const trace::Trace> ReadLeftFolder(const std::string& folder,
                                                   const program::Request& request);

class ProgramRunner : public QObject {
  Q_OBJECT
 public:
  explicit ProgramRunner(QString vramscope, QObject* parent = nullptr);
  ~ProgramRunner() override;

  // Of a request that CommandOf() takes. One at a time: while one runs this does nothing.
  void start(const program::Request& request);
  void stop();  // as Ctrl-C does; a second time harder, a third time at once
  bool busy() const { return run_ != nullptr; }
  const ProgramState& state() const { return state_; }
  const program::Request& request() const { return request_; }
  // What the program printed, the last of it.
  const QString& output() const { return output_; }
  // Where what runs leaves its history, and ProgramEnd::folder what it left; empty: nothing runs.
  QString folder() const;
  qint64 processId() const;  // of the launcher; 0: none runs

 Q_SIGNALS:
  void outputChanged(const QString& more);
  void stateChanged();
  // What has come so far; of several ranks all of them.
  void picture(const std::shared_ptr<const vramscope::trace::Trace>& trace);
  void ended(const vramscope::ui::ProgramEnd& end);

 private:
  struct Run;
  struct Read;
  void Look();
  void Taken(const std::shared_ptr<Read>& read);
  void TakeOutput();
  void Finished();
  void End(const Read& last);
  void SetState(ProgramState::Stage stage);

  const QString vramscope_;
  program::Request request_;
  ProgramState state_;
  QString output_;
  std::unique_ptr<Run> run_;
  QTimer poll_;
  Jobs reading_;  // last: it uses what runs
};

}  // namespace vramscope::ui
