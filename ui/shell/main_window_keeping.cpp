// Prevents the loss of results. Programs and runs on a GPU continue while another document is
// shown. Their results are saved automatically, and the window does not close before they are
// saved.
#include <QCloseEvent>
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <algorithm>
#include <utility>

#include "profiler/program/scratch_folder.h"
#include "profiler/trace/writer.h"
#include "ui/explain/explain_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/program/program_runner.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/savings.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

// If a program ignores a signal, it gets a stronger signal after this delay.
constexpr int kStopAgainMs = 4000;

}  // namespace

QString MainWindow::ScriptName() const {
  return QFileInfo(QString::fromStdString(runner_->request().script)).fileName();
}

// Called before another document becomes active. Cancels a plan of the embedded loop, which is made
// again when its document is shown. Programs and runs on this computer's GPU continue.
void MainWindow::LeavePlans() {
  if (run_tag_ != 0 && running_ == worker_) doc().Left();
  run_tag_ = 0;  // the result of the plan is no longer awaited
  worker_->cancel();
  running_ = worker_;
  savings_due_ = false;
  savings_->pause();
}

bool MainWindow::programBehind() const { return runner_->busy() && doc().id() != program_id_; }

void MainWindow::showProgram() {
  if (documents_.Find(program_id_) != nullptr) showDocument(program_id_);
}

void MainWindow::KeepResult(std::shared_ptr<const trace::Trace> trace, const QString& name,
                            std::shared_ptr<program::ScratchFolder> folder) {
  const auto report = [this, trace, name, folder](const absl::Status& status) {
    ReportNotStored({.trace = trace,
                     .name = name,
                     .why = ToQString(std::string(status.message())),
                     .folder = folder});
  };
  const absl::StatusOr<QString> path = kept_.NewPath(name);
  if (!path.ok()) return report(path.status());
  const auto kept = [this, trace, name, path = *path, folder, report](const absl::Status& status) {
    if (status.ok()) {
      if (folder != nullptr) folder->LeaveForOthers(false);
      kept_path_ = path;
      kept_trace_ = trace;
      for (size_t i = 0; i < documents_.size(); ++i)
        documents_.at(i).SavedTo(trace, path.toStdString());
      RefreshTabs();
      for (const QString& gone : kept_.Prune()) recent_.forget(gone);
      recent_.add(path);
      Say(tr("The result of %1 was saved: %2").arg(name, path));
    } else {
      QFile::remove(path);
      report(status);
    }
    actions_.Refresh();
    GoOnClosing();
  };
  keeping_.Ask(
      [trace, file = QFile::encodeName(*path).toStdString()] {
        return trace::WriteTraceFile(*trace, file, {});
      },
      kept, {.earlier = Earlier::kAll, .blocks = true});
}

void MainWindow::ReportNotStored(Unkept unkept) {
  Say(tr("%1 was not saved: %2").arg(unkept.name, unkept.why));
  unkept_.push_back(std::move(unkept));
  ShowUnkept();
}

const MainWindow::Unkept* MainWindow::UnkeptInFront() const {
  if (unkept_.empty()) return nullptr;
  const std::shared_ptr<const Digest> shown = session().shown();
  const auto front = std::ranges::find_if(unkept_, [&](const Unkept& unkept) {
    return unkept.trace == doc().latest ||
           (shown != nullptr && (unkept.trace == shown->trace || unkept.trace == shown->whole));
  });
  return front == unkept_.end() ? &unkept_.back() : &*front;
}

void MainWindow::ShowUnkept() {
  const Unkept* front = UnkeptInFront();
  if (front == nullptr) return banner_->clear(QStringLiteral("not-kept"));
  banner_->show(
      {.kind = "not-kept",
       .title = tr("The result of %1 is not saved").arg(front->name),
       .text = tr("%1. The result is only in memory. Save it to another location.").arg(front->why),
       .action = tr("Save trace …"),
       .run = [this, trace = front->trace, name = front->name] { SaveUnkept(trace, name); },
       .of_window = true});
}

void MainWindow::SaveUnkept(const std::shared_ptr<const trace::Trace>& trace, const QString& name) {
  const QString path =
      AskForSaveName(tr("Save the trace"), tr("Traces (*.trace)"), QStringLiteral("trace"), name);
  if (path.isEmpty()) return ShowUnkept();
  Write(trace, path, {});
}

// Call it when the user has saved or discarded the trace. Returns false if it is not an unsaved
// result.
bool MainWindow::ForgetUnkept(const std::shared_ptr<const trace::Trace>& trace) {
  const auto it = std::ranges::find(unkept_, trace, &Unkept::trace);
  if (it == unkept_.end()) return false;
  if (it->folder != nullptr) it->folder->LeaveForOthers(false);
  unkept_.erase(it);
  ShowUnkept();
  return true;
}

// Removes the automatically saved copy of a trace that the user has saved.
void MainWindow::SavedByUser(const std::shared_ptr<const trace::Trace>& trace,
                             const QString& path) {
  if (ForgetUnkept(trace))
    for (size_t i = 0; i < documents_.size(); ++i)
      documents_.at(i).SavedTo(trace, path.toStdString());
  if (trace != kept_trace_ || kept_.Has(path)) return;
  kept_trace_.reset();
  QFile::remove(kept_path_);
  for (size_t i = 0; i < documents_.size(); ++i)
    documents_.at(i).FileMoved(kept_path_.toStdString(), path.toStdString());
  recent_.forget(kept_path_);
}

bool MainWindow::RunsToKeep() const { return runner_->busy() || gpu_worker_ != nullptr; }

// Asks the user whether to stop a run. The run is the program's if a program is running and `id` is
// 0 or the program's document. Otherwise it is the run on the GPU.
bool MainWindow::AskToStop(const QString& question, DocumentId id) {
  const bool program = runner_->busy() && (id == 0 || id == program_id_);
  const QString what =
      program ? (runner_->request().planned() ? tr("%1 is being planned.").arg(ScriptName())
                                              : tr("%1 is being recorded.").arg(ScriptName()))
              : tr("A run on this computer's GPU is in progress.");
  QMessageBox box(QMessageBox::Question, QStringLiteral("vramscope"), what, QMessageBox::NoButton,
                  this);
  box.setObjectName(QStringLiteral("stopQuestion"));
  box.setInformativeText(question);
  QPushButton* stop = box.addButton(tr("Stop and keep the events"), QMessageBox::AcceptRole);
  stop->setObjectName(QStringLiteral("stopAndKeep"));
  QPushButton* keep = box.addButton(tr("Keep running"), QMessageBox::RejectRole);
  keep->setObjectName(QStringLiteral("keepRunning"));
  box.setDefaultButton(keep);
  box.setEscapeButton(keep);
  box.exec();
  return box.clickedButton() == stop;
}

void MainWindow::StopRuns() {
  runner_->stop();
  if (gpu_worker_ != nullptr) gpu_worker_->cancel();
}

// Called by the Cancel button and by Ctrl+. (period). Cancels all work that the user can repeat by
// a click. If nothing but a program or a run on the GPU is in progress, asks the user whether to
// stop it.
void MainWindow::CancelWhatIsAsked() {
  const bool in_front = (runner_->busy() && !programBehind()) || running_ == gpu_worker_;
  const bool others = (run_tag_ != 0 && running_ == worker_) || finding_gpu_libraries_.busy() ||
                      loader_->busy() || compare_loader_->busy() ||
                      (digests_.busy() && !in_front) || !writing_.empty() || explain_->busy() ||
                      StudiesBusy();
  if (!RunsToKeep() || others) {
    CancelOtherWrites();
    return;
  }
  if (AskToStop(tr("Stop the run? The events that have arrived so far are kept."))) StopRuns();
}

// Returns false if the window must not close yet. If a run or a save prevents it, the window closes
// itself when the run or save has ended.
bool MainWindow::MayClose() {
  if (RunsToKeep()) {
    if (!closing_) {
      if (!AskToStop(restart_ ? tr("Restarting vramscope stops the run. The events that arrived so "
                                   "far are saved. You can open them again from the File menu.")
                              : tr("Closing the window stops the run. The events that arrived so "
                                   "far are saved. You can open them again from the File menu.")))
        return false;
      if (!RunsToKeep()) return MayClose();  // the run ended while the question was on the screen
    }
    closing_ = true;
    StopRuns();
    stop_again_.start(kStopAgainMs);
    Say(restart_ ? tr("Stopping, then restarting …") : tr("Stopping, then closing …"));
    return false;
  }
  stop_again_.stop();
  if (keeping_.busy() || recoveries_.busy() || !writing_.empty()) {
    closing_ = true;
    Say(restart_ ? tr("Saving, then restarting …") : tr("Saving, then closing …"));
    return false;
  }
  closing_ = false;
  // Forgets the results only once all questions were answered, because a later one may keep the
  // window open.
  std::vector<Unkept> all(unkept_.begin(), unkept_.end());
  if (const Unkept* front = UnkeptInFront(); front != nullptr)
    std::rotate(all.begin(), all.begin() + (front - unkept_.data()),
                all.begin() + (front - unkept_.data()) + 1);
  for (const Unkept& unkept : all)
    if (!MayDiscard(unkept)) return false;
  for (const Unkept& unkept : all) ForgetUnkept(unkept.trace);
  return true;
}

// Returns false if the window must not close, because the user saves the result or cancels.
bool MainWindow::MayDiscard(const Unkept& unkept) {
  QMessageBox box(QMessageBox::Warning, QStringLiteral("vramscope"),
                  tr("The result of %1 is not saved.").arg(unkept.name), QMessageBox::NoButton,
                  this);
  box.setObjectName(QStringLiteral("unsavedQuestion"));
  QPushButton* save = box.addButton(tr("Save …"), QMessageBox::AcceptRole);
  QPushButton* discard = box.addButton(tr("Discard"), QMessageBox::DestructiveRole);
  discard->setObjectName(QStringLiteral("discard"));
  QPushButton* stay = box.addButton(QMessageBox::Cancel);
  box.setDefaultButton(save);
  box.setEscapeButton(stay);
  box.exec();
  if (box.clickedButton() == discard) return true;
  if (box.clickedButton() == save) {
    SaveUnkept(unkept.trace, unkept.name);
    closing_ = !writing_.empty();
  }
  return false;
}

void MainWindow::GoOnClosing() {
  // Close later in the event loop, because objects that are emitting signals now are destroyed when
  // the window closes.
  if (closing_) QTimer::singleShot(0, this, [this] { close(); });
}

void MainWindow::closeEvent(QCloseEvent* event) {
  // Do not restart if the user cancelled an earlier restart and now only closes the window.
  if (!std::exchange(asked_to_restart_, false) && !closing_) restart_ = false;
  if (!MayClose()) {
    event->ignore();
    return;
  }
  closing_ = false;
  layout_.store(settings_.get());
  settings_->sync();
  QMainWindow::closeEvent(event);
}

}  // namespace vramscope::ui
