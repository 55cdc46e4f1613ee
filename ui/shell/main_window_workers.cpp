// The window's two workers: one makes plans, and the other runs on this computer's GPU.
#include <QFile>
#include <QPlainTextEdit>

#include "ui/explain/explain_panel.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/techniques.h"
#include "ui/program/program_runner.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/savings.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

constexpr int kProgressPollMs = 100;
constexpr int kCodeCancelled = static_cast<int>(absl::StatusCode::kCancelled);
constexpr int kCodeUnavailable = static_cast<int>(absl::StatusCode::kUnavailable);

}  // namespace

void MainWindow::ConnectWorker(WorkerClient* worker) {
  connect(worker, &WorkerClient::runEnded, this,
          [this, worker](quint64 tag, const std::shared_ptr<const trace::Trace>& trace,
                         const QString& error) {
            const bool lost = worker->lastStatusCode() == kCodeUnavailable;
            const bool shown = worker == running_ && tag == run_tag_;
            if (shown) RunEnded(trace, error);
            if (worker != gpu_worker_) return;
            const QString name = tr("%1 on the GPU").arg(gpu_run_);
            if (trace != nullptr) KeepResult(trace, name);
            Document* of = documents_.Find(gpu_run_id_);
            if (!shown && of != nullptr) {
              of->latest = trace;
              of->unseen = trace != nullptr;
              of->Ended();
              RefreshTabs();
            }
            if (lost) return;  // the signal workerLost follows
            EndGpuWorker();
            if (!shown)
              Say(error.isEmpty() ? tr("%1 has ended").arg(name)
                                  : tr("%1 failed: %2").arg(name, error));
            if (of != nullptr && of->stopping) CloseNow(of->id());
            if (shown && error.isEmpty() && session().Against() != nullptr)
              openPage(QStringLiteral("compare"));
            GoOnClosing();
          });
  connect(worker, &WorkerClient::ready, this, [this, worker] {
    if (worker != worker_ || banner_->kind() != QLatin1String("worker-lost")) return;
    if (!lost_.isEmpty())
      ShowLost(tr("The worker ended unexpectedly; a new worker has replaced it"), false, false);
  });
  connect(worker, &WorkerClient::workerLost, this, [this, worker](const QString& what) {
    if (worker == running_)
      WorkerLost(what);
    else
      Say(what);
    if (worker != gpu_worker_) return;
    EndGpuWorker();
    GoOnClosing();
  });
  connect(worker, &WorkerClient::progress, this,
          [this, worker](quint64 tag, int step, int steps, const QString& text) {
            if (worker != running_ || tag != run_tag_) return;
            const double fraction = steps > 0 ? static_cast<double>(step) / steps : -1;
            run_fraction_ = fraction;
            if (!busy_delay_.isActive()) timeline_->setLoading(text, fraction);
          });
  connect(worker, &WorkerClient::partialTrace, this,
          [this, worker](quint64 tag, std::shared_ptr<const trace::Trace> trace) {
            if (worker == gpu_worker_) {
              Document* of = documents_.Find(gpu_run_id_);
              if (of == nullptr) return;
              of->latest = trace;
              if (of->id() == doc().id() && !digests_.busy())
                Digested(*of, std::move(trace), false, true);
              return;
            }
            // Show a partial plan only if no complete result is on the screen.
            if (worker == running_ && tag == run_tag_ && !digests_.busy() &&
                (session().shown() == nullptr || session().partial()))
              Digested(doc(), std::move(trace), false, true);
          });
  connect(worker, &WorkerClient::logged, log_, &QPlainTextEdit::appendPlainText);
}

void MainWindow::StartRun() {
  if (doc().source.kind != SourceKind::kPlan) PlanWith(run::RunConfig(doc().config));
  if (can_plan_)
    StartRunOn(worker_, doc().config);
  else
    ShowSample();
}

void MainWindow::StartRunOn(WorkerClient* worker, const run::RunConfig& config) {
  savings_due_ = false;
  savings_->pause();
  since_run_.start();
  say_time_ = true;
  run_fraction_ = -1;
  running_ = worker;
  run_tag_ = worker->run(config);
  if (worker == gpu_worker_) gpu_tag_ = run_tag_;
  doc().Began();
  RefreshTabs();
  if (!write_poll_.isActive()) write_poll_.start(kProgressPollMs);
  SetBusy(config.backend == run::Backend::kPlan ? tr("planning …") : tr("running …"));
}

// Runs the plan's steps on the GPU, and compares the run with the plan. A pool thread searches for
// the GPU, because a driver may take a second to respond.
void MainWindow::runOnGpu() {
  if (finding_gpu_libraries_.busy() || run_tag_ != 0 || gpu_worker_ != nullptr) return;
  const auto refuse = [this](const QString& why) {
    SetBusy({});
    banner_->show({.kind = "no-card",
                   .tone = Banner::Tone::kWarning,
                   .title = tr("Cannot run on a GPU of this computer"),
                   .text = tr("%1.").arg(why)});
    Say(tr("Not run: %1").arg(why));
    Q_EMIT failed(why);
  };
  if (!can_plan_) return refuse(tr("LibTorch is not installed"));
  if (!gpu_libraries_)
    return refuse(
        tr("start the window with the command `vramscope`, which finds the CUDA libraries"));
  SetBusy(tr("looking for a GPU …"));
  using Libraries = absl::StatusOr<std::vector<std::string>>;
  finding_gpu_libraries_.Ask(
      gpu_libraries_,
      [this, refuse](const Libraries& folders) {
        if (!folders.ok())
          return refuse(QString::fromStdString(std::string(folders.status().message())));
        banner_->clear(QStringLiteral("no-card"));
        QStringList arguments{QStringLiteral("--backend"), QStringLiteral("cuda")};
        QStringList named;
        for (const std::string& folder : *folders) named << QFile::decodeName(folder.c_str());
        if (!named.isEmpty())
          arguments << QStringLiteral("--cuda-libraries") << named.join(QLatin1Char(':'));
        gpu_run_ = QString::fromStdString(doc().config.model);
        gpu_worker_ = new WorkerClient(worker_program_, this);
        gpu_worker_->setArguments(arguments);
        ConnectWorker(gpu_worker_);
        run::RunConfig config = doc().config;
        config.backend = run::Backend::kCuda;
        // All GPU runs of the same model share one document and its history.
        const Document& plan = doc();
        Document* of = documents_.FindIf([&](const Document& d) {
          return d.source.kind == SourceKind::kGpuRun && d.config.model == config.model;
        });
        if (of == nullptr) of = &documents_.Open({.kind = SourceKind::kGpuRun});
        of->Expect(of->history.entries().empty()
                       ? std::string()
                       : DescribeChange(of->history.now()->config, plan.config));
        of->config = plan.config;
        of->run_shown = false;
        // Make the shown plan the run's baseline, because it has the same configuration.
        if (of->session.baseline() == nullptr && plan.session.shown() != nullptr &&
            !plan.session.partial() && plan.session.shown()->trace->info.has_config &&
            PlanKey(plan.session.shown()->trace->info.config) == PlanKey(plan.config))
          of->session.SetBaseline(plan.session.shown(), plan.session.file());
        gpu_run_id_ = of->id();
        if (of->id() != doc().id()) {
          MakeActive(of->id());
          ShowActive();
        }
        StartRunOn(gpu_worker_, config);
      },
      {.blocks = true});
}

// Ends the worker that uses the GPU. Otherwise its CUDA context would continue to occupy GPU
// memory.
void MainWindow::EndGpuWorker() {
  gpu_worker_->disconnect(this);
  gpu_worker_->deleteLater();
  if (running_ == gpu_worker_) running_ = worker_;
  gpu_worker_ = nullptr;
}

void MainWindow::RunEnded(std::shared_ptr<const trace::Trace> trace, const QString& error) {
  run_tag_ = 0;
  SetBusy({});
  const bool good = error.isEmpty() && trace != nullptr;
  if (running_ == gpu_worker_) doc().latest = good ? trace : nullptr;
  if (!good) doc().Ended();
  RefreshTabs();
  const int code = running_->lastStatusCode();
  if (error.isEmpty()) {
    if (trace == nullptr) {
      banner_->show(
          {.kind = "run-failed",
           .title = tr("The run ended without any events"),
           .text =
               tr("The worker reported success but sent no events. The Log tab has its output."),
           .action = tr("Run again"),
           .run = [this] { StartRun(); }});
      Q_EMIT failed(tr("no events"));
      return;
    }
    banner_->clear(QStringLiteral("worker-lost"));
    RunSucceeded();
    Digested(doc(), std::move(trace), animations_, false);
    return;
  }
  // The displayed savings belong to another run.
  savings_due_ = false;
  savings_->forget(QStringLiteral("–"), tr("the run did not finish"));
  if (code == kCodeCancelled) {
    Say(tr("Cancelled"));
    if (trace == nullptr)
      ShowFailed(tr("Cancelled"), tr("The run was stopped before any events arrived."),
                 tr("Press Ctrl+R to run it"));
  } else if (code == kCodeUnavailable) {
    // Report nothing, because WorkerLost() is called next and reports what happened.
  } else {
    banner_->show(
        {.kind = "run-failed",
         .title = tr("%1 could not be run").arg(QString::fromStdString(doc().config.model)),
         .text = tr("%1. Change that setting to run again, or undo the last change with Ctrl+Z.")
                     .arg(error),
         .action = CanUndo() ? tr("Undo") : QString(),
         .run = [this] { undo(); }});
    Say(tr("Failed: %1").arg(error));
    if (trace == nullptr)
      ShowFailed(tr("The run failed"), error,
                 tr("Change the settings on the left, or undo the last change"));
  }
  if (trace != nullptr)
    Digested(doc(), std::move(trace), false, true);
  else if (session().partial())
    explain_->setDigest(session().shown(), false);  // the trace will not grow any more
  // If a toggle on a recording made this plan active, show the plan's earlier result.
  if (trace == nullptr && session().shown() != nullptr &&
      timeline_->trace() != session().shown()->trace)
    ShowOnCanvas(false, false);
  Q_EMIT failed(error);
}

void MainWindow::ShowLost(const QString& title, bool for_good, bool on_gpu) {
  banner_->show({.kind = "worker-lost",
                 .tone = for_good ? Banner::Tone::kBad : Banner::Tone::kWarning,
                 .title = title,
                 .text = session().partial()
                             ? tr("%1 The events that arrived are shown.").arg(lost_)
                             : tr("%1 The current view is unchanged. The Log tab has the last "
                                  "output of the worker.")
                                   .arg(lost_),
                 .action = tr("Run again"),
                 .run =
                     [this, on_gpu] {
                       if (on_gpu)
                         runOnGpu();
                       else
                         StartRun();
                     },
                 .of_window = true});
}

void MainWindow::WorkerLost(const QString& what) {
  const bool on_gpu = running_ == gpu_worker_;
  const bool again = !on_gpu && !worker_->givenUp();
  lost_ = what;
  ShowLost(on_gpu  ? tr("The run on the GPU ended unexpectedly")
           : again ? tr("The worker ended unexpectedly and is being replaced")
                   : tr("The worker keeps crashing and is no longer restarted"),
           !again, on_gpu);
  if (on_gpu) lost_.clear();  // the GPU's worker is not replaced
  Say(what);
  ShowFailed(tr("Nothing was run"), what, tr("Press Ctrl+R to try again"));
}

}  // namespace vramscope::ui
