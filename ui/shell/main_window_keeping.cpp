// What no click may lose: programs and runs on a GPU go on while something else is shown, what they
// gave is saved by itself, and the window closes only when that is done.
#include <QCloseEvent>
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QMessageBox>
#include <QPushButton>
#include <QtConcurrent/QtConcurrentRun>
#include <algorithm>

#include "profiler/trace/catch_status.h"
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

constexpr int kStopAgainMs = 4000;  // a program that ignores the first signal gets a harder one

}  // namespace

QString MainWindow::ScriptName() const {
  return QFileInfo(QString::fromStdString(runner_->request().script)).fileName();
}

// Something else is shown from here on. A plan of the built-in loop is made again with a click and
// ends; a program, and a run on this computer's GPU, go on.
void MainWindow::LeaveRuns() {
  LeaveProgram();
  LeavePlans();
}

void MainWindow::LeavePlans() {
  run_tag_ = 0;  // nobody waits for its end
  worker_->cancel();
  running_ = worker_;
  savings_due_ = false;
  savings_->pause();
}

void MainWindow::LeaveProgram() {
  if (!runner_->busy() || program_behind_) return;
  program_behind_ = true;
  banner_->show({.kind = "program-goes-on",
                 .tone = Banner::Tone::kWarning,
                 .title = tr("%1 is still running").arg(ScriptName()),
                 .text = tr("It goes on in the background, and its result is kept when it ends."),
                 .action = tr("Show it"),
                 .run = [this] { showProgram(); }});
}

// The program that was left comes back to the canvas: what it has done so far, or its end.
void MainWindow::showProgram() {
  if (program_trace_ == nullptr && !runner_->busy()) return;
  program_behind_ = false;
  LeavePlans();
  loader_->cancel();
  banner_->clear(QStringLiteral("program-goes-on"));
  banner_->clear(QStringLiteral("program-ended"));
  ShowControlsPage(ControlsPage::kProgram);
  if (program_trace_ == nullptr) return;  // its first picture is still to come
  program_shown_ = false;
  BecomeProgram();
  ++digest_generation_;
  Digested(program_trace_, false, runner_->busy(), program_device_);
  if (!runner_->busy()) program_trace_.reset();
  actions_.Refresh();
}

void MainWindow::KeepResult(std::shared_ptr<const trace::Trace> trace, const QString& name) {
  const absl::StatusOr<QString> path = kept_.NewPath(name);
  if (!path.ok()) {
    NotKept(std::move(trace), name, ToQString(std::string(path.status().message())));
    return;
  }
  auto* watcher = new QFutureWatcher<absl::Status>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, trace, name, path = *path] {
    const absl::Status status = trace::CatchStatus([&] { return watcher->result(); });
    watcher->deleteLater();
    std::erase_if(keeping_, [](const auto& future) { return future.isFinished(); });
    if (status.ok()) {
      kept_path_ = path;
      kept_trace_ = trace;
      for (const QString& gone : kept_.Prune()) ForgetRecent(gone);
      AddRecent(path);
      Say(tr("The result of %1 is kept: %2").arg(name, path));
    } else {
      QFile::remove(path);
      NotKept(trace, name, ToQString(std::string(status.message())));
    }
    actions_.Refresh();
    GoOnClosing();
  });
  keeping_.push_back(QtConcurrent::run([trace, file = QFile::encodeName(*path).toStdString()] {
    return trace::CatchStatus([&] { return trace::WriteTraceFile(*trace, file, {}); });
  }));
  watcher->setFuture(keeping_.back());
}

void MainWindow::NotKept(std::shared_ptr<const trace::Trace> trace, const QString& name,
                         const QString& why) {
  unkept_ = std::move(trace);
  unkept_name_ = name;
  banner_->show({.kind = "not-kept",
                 .title = tr("The result of %1 is not saved").arg(name),
                 .text = tr("%1. It is in memory only: save it to another place.").arg(why),
                 .action = tr("Save trace …"),
                 .run = [this] { SaveUnkept(); }});
  Say(tr("Not kept: %1: %2").arg(name, why));
}

void MainWindow::SaveUnkept() {
  if (unkept_ == nullptr) return;
  const QString path = AskForSaveName(tr("Save the trace"), tr("Traces (*.trace)"),
                                      QStringLiteral("trace"), unkept_name_);
  if (!path.isEmpty()) Write(unkept_, path, {});
}

// The user has saved it where it belongs: the copy that was made without being asked for goes.
void MainWindow::SavedByUser(const std::shared_ptr<const trace::Trace>& trace,
                             const QString& path) {
  if (trace == unkept_) {
    unkept_.reset();
    banner_->clear(QStringLiteral("not-kept"));
  }
  if (trace != kept_trace_ || kept_.Has(path)) return;
  kept_trace_.reset();
  QFile::remove(kept_path_);
  ForgetRecent(kept_path_);
}

bool MainWindow::RunsToKeep() const { return runner_->busy() || card_worker_ != nullptr; }

// Of what goes on and would be lost.
bool MainWindow::AskToStop(const QString& question) {
  const QString what = runner_->busy() ? (runner_->request().planned()
                                              ? tr("%1 is being planned.").arg(ScriptName())
                                              : tr("%1 is being recorded.").arg(ScriptName()))
                                       : tr("A run on this computer's GPU goes on.");
  QMessageBox box(QMessageBox::Question, QStringLiteral("vramscope"), what, QMessageBox::NoButton,
                  this);
  box.setObjectName(QStringLiteral("stopQuestion"));
  box.setInformativeText(question);
  QPushButton* stop = box.addButton(tr("Stop and keep what arrived"), QMessageBox::AcceptRole);
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
  if (card_worker_ != nullptr) card_worker_->cancel();
}

// The Cancel button and Ctrl+.: what is made again with a click ends at once. A program or a run on
// the GPU ends only when nothing else is going on, and after a question.
void MainWindow::CancelWhatIsAsked() {
  const bool in_front = (runner_->busy() && !program_behind_) || running_ == card_worker_;
  const bool others = (run_tag_ != 0 && running_ == worker_) || asking_card_ || loader_->busy() ||
                      compare_loader_->busy() || (digesting_ > 0 && !in_front) ||
                      !writing_.empty() || explain_->busy() ||
                      std::ranges::any_of(studies_, [](StudyPage* page) { return page->busy(); });
  if (!RunsToKeep() || others) {
    CancelOthers();
    return;
  }
  if (AskToStop(tr("Stop it? What arrived so far stays."))) StopRuns();
}

// False: not now. Where something has to end first, the window closes by itself after that.
bool MainWindow::MayClose() {
  if (RunsToKeep()) {
    if (!closing_) {
      if (!AskToStop(tr("Closing the window stops it. What arrived so far is saved and can be "
                        "opened again from the File menu.")))
        return false;
      if (!RunsToKeep()) return MayClose();  // it ended while the question stood there
    }
    closing_ = true;
    StopRuns();
    stop_again_.start(kStopAgainMs);
    Say(tr("Stopping, then closing …"));
    return false;
  }
  stop_again_.stop();
  if (!keeping_.empty() || !writing_.empty()) {
    closing_ = true;
    Say(tr("Saving, then closing …"));
    return false;
  }
  if (unkept_ == nullptr) return true;
  closing_ = false;
  QMessageBox box(QMessageBox::Warning, QStringLiteral("vramscope"),
                  tr("The result of %1 is not saved.").arg(unkept_name_), QMessageBox::NoButton,
                  this);
  box.setObjectName(QStringLiteral("unsavedQuestion"));
  QPushButton* save = box.addButton(tr("Save …"), QMessageBox::AcceptRole);
  QPushButton* discard = box.addButton(tr("Discard it"), QMessageBox::DestructiveRole);
  discard->setObjectName(QStringLiteral("discard"));
  QPushButton* stay = box.addButton(QMessageBox::Cancel);
  box.setDefaultButton(save);
  box.setEscapeButton(stay);
  box.exec();
  if (box.clickedButton() == discard) return true;
  if (box.clickedButton() == save) {
    SaveUnkept();
    closing_ = !writing_.empty();
  }
  return false;
}

void MainWindow::GoOnClosing() {
  // From the event loop: this is called from signals of what is about to go.
  if (closing_) QTimer::singleShot(0, this, [this] { close(); });
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!MayClose()) {
    event->ignore();
    return;
  }
  closing_ = false;
  settings_->setValue(QStringLiteral("geometry"), saveGeometry());
  settings_->setValue(QStringLiteral("layout"), saveState(kLayoutVersion));
  settings_->sync();
  QMainWindow::closeEvent(event);
}

// Of a change of the configuration: what was shown and cannot be planned again.
MainWindow::Replaced MainWindow::WhatAPlanReplaces() const {
  const auto& shown = session_.shown();
  if (shown == nullptr || session_.partial()) return {};
  const bool plan = !session_.from_file() && shown->trace->info.has_config &&
                    !shown->trace->info.measured && !shown->watched();
  if (plan) return {};
  return {shown, session_.from_file() ? session_.file() : std::string()};
}

void MainWindow::TakeBack(const run::RunConfig& before, const Replaced& replaced) {
  if (replaced.digest == nullptr) return runConfig(before);
  LeaveRuns();
  SetConfig(before);
  ++digest_generation_;
  SetBusy({});
  if (replaced.file.empty())
    session_.ShowRun();
  else
    session_.ShowFile(replaced.file);
  ShowDigest(replaced.digest, animations_, false);
}

}  // namespace vramscope::ui
