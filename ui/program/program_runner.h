// Plans or records a user's program, and reports its progress while it runs. Runs `vramscope plan
// -- PROGRAM`, `record` or `record --host user@box` in a separate process, because the launcher
// reaps all children of its own process. A pool thread reads the data that the launcher writes.
//
//   auto* runner = new ProgramRunner(FindVramscope(), this);
//   connect(runner, &ProgramRunner::partialTrace, this, ...);
//   runner->start(request);
//
// UI thread only; the signals are emitted there. The destructor stops a running program
// and removes its folder.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <memory>

#include "profiler/program/launch.h"
#include "profiler/program/request.h"
#include "profiler/trace/trace.h"
#include "ui/jobs/jobs.h"

namespace vramscope::program {
class ScratchFolder;
}

namespace vramscope::ui {

// Returns the path of `vramscope`, which is in this program's tree (profiler/base/install_paths.h)
// or else in PATH. Returns an empty text if it is in neither.
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
  uint64_t step = 0;  // the current step, from 1; 0: none has begun
  uint64_t events = 0;
  double seconds = 0;
  friend bool operator==(const ProgramState&, const ProgramState&) = default;
};

struct ProgramEnd {
  std::shared_ptr<const trace::Trace> trace = {};  // all events that arrived; null: none
  bool stopped = false;                            // the user stopped the program
  bool out_of_memory = false;                      // the run ended because memory ran out
  // What went wrong (a sentence without full stop), where in the user's script ("train.py:12"), and
  // what to do next. All are empty if nothing went wrong.
  QString error = {}, place = {}, next = {};
  QString remark = {};  // a warning, in the form of `error`, about a run that did not fail
  double seconds = 0;
  QStringList sources = {};  // the program's own files that it has imported
  // Owns the history on disk. When its last copy is destroyed, the history is deleted, so keep a
  // copy until the trace is saved.
  std::shared_ptr<program::ScratchFolder> folder = {};
};

// Reads the folder (ProgramRunner::folder) of a program whose window was killed. Returns the trace
// of all ranks, or null if no data had arrived. Fails if the data cannot be read. Slow.
// Thread-safe.
absl::StatusOr<std::shared_ptr<const trace::Trace>> ReadLeftFolder(const std::string& folder,
                                                                   const program::Request& request);

class ProgramRunner : public QObject {
  Q_OBJECT
 public:
  explicit ProgramRunner(QString vramscope, QObject* parent = nullptr);
  ~ProgramRunner() override;

  // `request` must be one that program::CommandOf() accepts. Does nothing while a program runs.
  void start(const program::Request& request);
  void stop();  // like Ctrl-C; the second call sends a stronger signal, the third kills the program
  bool busy() const { return run_ != nullptr; }
  const ProgramState& state() const { return state_; }
  const program::Request& request() const { return request_; }
  // The end of the program's output.
  const QString& output() const { return output_; }
  // The folder to which the running program writes its history, or an empty text if nothing runs.
  // After the program's end, ProgramEnd::folder owns this folder.
  QString folder() const;
  qint64 processId() const;  // id of the launcher's process; 0: nothing runs

 Q_SIGNALS:
  void outputChanged(const QString& more);
  void stateChanged();
  // Emitted with a trace of the data that has arrived so far from all ranks.
  void partialTrace(const std::shared_ptr<const vramscope::trace::Trace>& trace);
  void ended(const vramscope::ui::ProgramEnd& end);

 private:
  struct Run;
  struct Read;
  void ReadNew();
  void OnRead(const std::shared_ptr<Read>& read);
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
  Jobs reading_;  // the last member, because its jobs use run_
};

}  // namespace vramscope::ui
