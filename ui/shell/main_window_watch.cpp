// Plans the user's program again when one of its files is saved.
#include <QFileInfo>
#include <QTimer>
#include <utility>

#include "ui/panels/program_panel.h"
#include "ui/program/file_watch.h"
#include "ui/program/program_runner.h"
#include "ui/shell/main_window.h"

namespace vramscope::ui {

void MainWindow::BuildWatch() {
  watch_ = new FileWatch(this);
  connect(program_, &ProgramPanel::watchChanged, this, &MainWindow::WatchProgram);
  connect(runner_, &ProgramRunner::ended, this, [this](const ProgramEnd& end) {
    if (watch_->active()) watch_->add(end.sources);
    PlanSaved();  // now plan the files that were saved while the program ran
  });
  // If another tab is shown, the program is planned when the user returns to its tab.
  connect(this, &MainWindow::documentShown, this, &MainWindow::PlanSaved);
  connect(watch_, &FileWatch::saved, this, [this](const QStringList& paths) {
    saved_files_ << paths;
    PlanSaved();
  });
}

void MainWindow::WatchProgram() {
  saved_files_.clear();
  const Document* of = documents_.Find(program_id_);
  if (of == nullptr || !program_->watches() || !of->source.program.planned()) return watch_->stop();
  watch_->start(of->source.program);
}

// Plans the program later in the event loop, because the window may be receiving a result now.
void MainWindow::PlanSaved() {
  if (saved_files_.isEmpty()) return;
  QTimer::singleShot(0, this, [this] {
    Document* of = documents_.Find(program_id_);
    if (saved_files_.isEmpty() || runner_->busy() || digests_.busy() || of == nullptr ||
        of->id() != doc().id() || !program_->watches())
      return;
    const QStringList saved = std::exchange(saved_files_, {});
    StartProgramIn(*of, program::Request(of->source.program));
    of->Expect(tr("%1 saved").arg(QFileInfo(saved.front()).fileName()).toStdString());
  });
}

}  // namespace vramscope::ui
