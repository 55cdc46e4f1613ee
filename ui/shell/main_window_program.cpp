// Plans or records a user's program from the page on the left, shows it while it runs, and plans it
// again on another GPU. Also selects the page shown on the left.
#include <QDockWidget>
#include <QFileInfo>
#include <QPlainTextEdit>
#include <QSettings>
#include <QStackedWidget>
#include <QTabBar>
#include <QTimer>
#include <algorithm>

#include "profiler/base/i18n.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/recording_panel.h"
#include "ui/panels/run_panel.h"
#include "ui/program/program_runner.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/main_window.h"
#include "ui/shell/savings.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

constexpr const char* kGroup = "program";

program::Request StoredRequest(QSettings& settings) {
  program::Request request;
  settings.beginGroup(QLatin1String(kGroup));
  const auto text = [&](const char* key) {
    return settings.value(QLatin1String(key)).toString().toStdString();
  };
  request.where = static_cast<program::Where>(
      std::clamp(settings.value(QStringLiteral("where"), 0).toInt(), 0, 2));
  request.host = text("host");
  request.host_interpreter = text("host_interpreter");
  request.host_vramscope = text("host_vramscope");
  request.operators = settings.value(QStringLiteral("operators"), false).toBool();
  request.script = text("script");
  request.interpreter = text("interpreter");
  request.arguments = text("arguments");
  request.folder = text("folder");
  if (const std::string device = text("device"); run::FindDevice(device).ok())
    request.device = device;
  request.ranks = std::clamp(settings.value(QStringLiteral("ranks"), 1).toUInt(), 1u, 256u);
  request.steps = std::min(settings.value(QStringLiteral("steps"), 2).toUInt(), 100'000u);
  request.skip_init = settings.value(QStringLiteral("skip_init"), true).toBool();
  settings.endGroup();
  return request;
}

// Stores the settings of a program that is being started.
void Store(QSettings& settings, const program::Request& request) {
  settings.beginGroup(QLatin1String(kGroup));
  const auto put = [&](const char* key, const std::string& value) {
    settings.setValue(QLatin1String(key), QString::fromStdString(value));
  };
  settings.setValue(QStringLiteral("where"), static_cast<int>(request.where));
  put("host", request.host);
  put("host_interpreter", request.host_interpreter);
  put("host_vramscope", request.host_vramscope);
  settings.setValue(QStringLiteral("operators"), request.operators);
  put("script", request.script);
  put("interpreter", request.interpreter);
  put("arguments", request.arguments);
  put("folder", request.folder);
  put("device", request.device);
  settings.setValue(QStringLiteral("ranks"), request.ranks);
  settings.setValue(QStringLiteral("steps"), request.steps);
  settings.setValue(QStringLiteral("skip_init"), request.skip_init);
  settings.endGroup();
}

// Returns a text such as "bf16 on, lora=16 off".
QString DescribeToggles(const std::vector<std::string>& before,
                        const std::vector<std::string>& after) {
  QStringList changes;
  for (const std::string& toggle : after)
    if (std::ranges::find(before, toggle) == before.end())
      changes << QObject::tr("%1 on").arg(QString::fromStdString(toggle));
  for (const std::string& toggle : before)
    if (std::ranges::find(after, toggle) == after.end())
      changes << QObject::tr("%1 off").arg(QString::fromStdString(toggle));
  return changes.join(QStringLiteral(", "));
}

// Describes how the request `after` differs from `before`, the request of the program's previous
// run.
std::string DescribeChange(const program::Request& before, const program::Request& after) {
  if (before.where != after.where)
    return (after.planned() ? QObject::tr("Planned") : QObject::tr("Recorded")).toStdString();
  if (after.planned() && before.device != after.device)
    return QObject::tr("Device %1").arg(QString::fromStdString(after.device)).toStdString();
  if (after.planned() && before.toggles != after.toggles)
    return DescribeToggles(before.toggles, after.toggles).toStdString();
  if (before.arguments != after.arguments)
    return (after.arguments.empty() ? QObject::tr("No arguments")
                                    : QString::fromStdString(after.arguments))
        .toStdString();
  if (before.steps != after.steps)
    return QObject::tr("Steps %1 → %2").arg(before.steps).arg(after.steps).toStdString();
  if (before.ranks != after.ranks)
    return QObject::tr("GPUs %1 → %2").arg(before.ranks).arg(after.ranks).toStdString();
  return QObject::tr("Repeated run").toStdString();
}

}  // namespace

// Shows the page of controls that belongs to the active document.
void MainWindow::ShowControls() {
  const bool opened = session().shown() != nullptr && session().from_file() &&
                      !session().shown()->trace->info.has_config;
  const bool program =
      session().shown() != nullptr && !session().from_file() && session().shown()->watched();
  if (opened) recording_->setDigest(*session().shown(), ShownFile(), session().partial());
  controls_tabs_->setTabVisible(static_cast<int>(ControlsPage::kRecording), opened);
  controls_tabs_->setTabText(
      static_cast<int>(ControlsPage::kRecording),
      opened && session().shown()->program() ? tr("This plan") : tr("Recording"));
  // Keep showing the program's controls while a program runs or its document is active.
  const bool of_program = runner_->busy() || doc().source.kind == SourceKind::kProgram;
  if (program || (!opened && of_program)) return ShowStudies();
  ShowControlsPage(opened ? ControlsPage::kRecording : ControlsPage::kModel);
  ShowStudies();  // the studies may still be those of another document
}

void MainWindow::ShowControlsPage(ControlsPage page) {
  controls_tabs_->setCurrentIndex(static_cast<int>(page));
  controls_->setCurrentIndex(static_cast<int>(page));
}

bool MainWindow::ControlsShow(ControlsPage page) const {
  return controls_->currentIndex() == static_cast<int>(page);
}

void MainWindow::BuildProgram(const QString& vramscope) {
  runner_ = new ProgramRunner(vramscope, this);
  program_->setRequest(StoredRequest(*settings_));
  connect(program_, &ProgramPanel::startRequested, this, &MainWindow::startProgram);
  connect(program_, &ProgramPanel::stopRequested, this, &MainWindow::stopProgram);
  connect(program_, &ProgramPanel::againRequested, this, &MainWindow::programAgainOn);
  connect(runner_, &ProgramRunner::stateChanged, this, [this] {
    program_->setState(runner_->state());
    actions_.Refresh();
  });
  connect(runner_, &ProgramRunner::outputChanged, this, [this](const QString& more) {
    program_->addOutput(more);
    log_->appendPlainText(more.trimmed());
  });
  connect(runner_, &ProgramRunner::partialTrace, this, &MainWindow::ShowPartialTrace);
  connect(runner_, &ProgramRunner::ended, this, &MainWindow::ProgramEnded);
  ConnectProgramStudies();
  BuildWatch();
}

void MainWindow::openProgram(const QString& script) {
  ShowControlsPage(ControlsPage::kProgram);
  controls_dock_->show();
  if (!script.isEmpty() && !runner_->busy())
    program_->setScript(QFileInfo(script).absoluteFilePath());
  program_->focusScript();
}

// Returns the document for a run. All runs of a script share one document and its history, except
// that each variant of planProgramBeside() has a separate document.
Document& MainWindow::ProgramDocument(const program::Request& request) {
  const auto is = [&](const Document& d) {
    return d.source.kind == SourceKind::kProgram && d.source.program.script == request.script &&
           (d.source.variant.empty() || d.source.program == request);
  };
  if (is(doc())) return doc();
  Document* there =
      documents_.FindIf([&](const Document& d) { return is(d) && d.source.variant.empty(); });
  return there != nullptr ? *there
                          : documents_.Open({.kind = SourceKind::kProgram, .program = request});
}

void MainWindow::startProgram() {
  if (runner_->busy()) return;
  const program::Request request = program_->request();
  Store(*settings_, request);
  StartProgramIn(ProgramDocument(request), request);
}

void MainWindow::planProgramBeside(const program::Request& request, const program::Request& base,
                                   const QString& variant) {
  Document* there = documents_.FindIf([&](const Document& d) {
    return d.source.kind == SourceKind::kProgram && d.source.program == request;
  });
  if (there != nullptr && there->state() != DocumentState::kFailed)
    return showDocument(there->id());
  if (runner_->busy()) return ShowProgramBusy();
  const Document* from = documents_.FindIf([&](const Document& d) {
    return d.source.kind == SourceKind::kProgram && d.source.program == base &&
           d.session.shown() != nullptr && !d.session.partial();
  });
  const std::shared_ptr<const Digest> digest = from == nullptr ? nullptr : from->session.shown();
  const std::string file = from == nullptr ? std::string() : from->FileOfResult();
  Document& of = there != nullptr ? *there
                                  : documents_.Open({.kind = SourceKind::kProgram,
                                                     .program = request,
                                                     .variant = variant.toStdString()});
  if (digest != nullptr) of.session.SetBaseline(digest, file, /*for_this_only=*/true);
  StartProgramIn(of, request);
}

void MainWindow::StartProgramIn(Document& of, const program::Request& request) {
  banner_->clearOfDocument();
  banner_->clear(QStringLiteral("program-ended"));  // its button would show the new run
  const DocumentId opener = doc().id();
  const bool active = of.id() == opener;
  const bool first = of.history.entries().empty();
  of.Expect(first ? std::string() : DescribeChange(of.source.program, request));
  of.Began();
  of.source.program = request;
  of.latest.reset();
  of.device.reset();
  of.run_shown = false;
  program_id_ = of.id();
  MakeActive(of.id());
  if (loading_ == of.id()) {  // an earlier result of the document is being loaded
    loading_ = 0;
    loader_->cancel();
  }
  if (!active) of.undo.TakeProgram(documents_.Find(opener)->undo, request.script);
  if (!active && documents_.Find(opener)->Blank()) documents_.Close(opener);
  // Remove a baseline that was set for a comparison with another run.
  if (!first && !of.compare_at_end && session().baseline_for_this_only()) SetBaseline(nullptr, {});
  ShowControlsPage(ControlsPage::kProgram);
  program_->clearOutput();
  since_run_.start();
  say_time_ = true;
  Say((request.planned() ? tr("Planning %1") : tr("Recording %1"))
          .arg(QString::fromStdString(program::CommandLineOf(request))));
  if (!active) ShowActive();
  SetBusy(tr("running %1 …").arg(QFileInfo(QString::fromStdString(request.script)).fileName()));
  WatchProgram();
  runner_->start(request);
  of.scratch = runner_->folder().toStdString();
  RefreshTabs();
  StoreSession(false);  // stores the folder: the next window finds it even if this one is killed
  actions_.Refresh();
}

void MainWindow::ShowProgramBusy() {
  banner_->show(
      {.kind = "program-busy",
       .title = tr("%1 is still running").arg(ScriptName()),
       .text =
           tr("Only one program can run at a time. Stop the program, or try again when it ends.")});
}

void MainWindow::ShowReport() {
  program_->setRequest(doc().source.program);
  const auto report = program_reports_.find(doc().id());
  program_->setReport(report == program_reports_.end() ? nullptr : report->second.get());
}

const program::Request& MainWindow::ProgramInForm() const {
  const Source& source = doc().source;
  return source.kind == SourceKind::kProgram && source.program.script != program_->request().script
             ? source.program
             : program_->request();
}

// If the program's plan is shown, plans the program again immediately, as after a toggle of a
// model.
void MainWindow::ProgramToggled(const program::Request& before) {
  const program::Request& now = program_->request();
  doc().undo.Push({.kind = UndoStep::Kind::kToggles,
                   .text = DescribeToggles(before.toggles, now.toggles).toStdString(),
                   .program_before = before,
                   .program_after = now});
  const Source& source = doc().source;
  if (source.kind == SourceKind::kProgram && source.program.planned() &&
      source.program.script == now.script && session().shown() != nullptr)
    startProgram();
  actions_.Refresh();
}

// Returns true if undo or redo must wait, because the plan of the toggle is still running. Then
// stops that plan (but no other), and undoes or redoes the step when the plan has ended.
bool MainWindow::WaitsForProgram(const UndoStep& step, bool back) {
  if (!step.of_program() || !runner_->busy()) return false;
  const program::Request& from = back ? step.program_after : step.program_before;
  const program::Request& running = runner_->request();
  if (step.kind != UndoStep::Kind::kToggles || program_id_ != doc().id() || !running.planned() ||
      running.toggles != from.toggles) {
    ShowProgramBusy();
    return true;
  }
  const bool stopping = undo_at_end_ != 0 || redo_at_end_ != 0;
  undo_at_end_ = back ? program_id_ : 0;
  redo_at_end_ = back ? 0 : program_id_;
  if (!stopping) runner_->stop();
  return true;
}

// Undoes later in the event loop, because the window is receiving the plan's result now.
void MainWindow::UndoAtEnd(DocumentId ended) {
  if (std::exchange(undo_at_end_, 0) == ended) QTimer::singleShot(0, this, &MainWindow::undo);
  if (std::exchange(redo_at_end_, 0) == ended) QTimer::singleShot(0, this, &MainWindow::redo);
}

// Shows the result of `request`: the result in the history if the script has not changed since, or
// else the result of a new plan.
void MainWindow::ReturnToProgram(const program::Request& request) {
  program_->setRequest(request);
  Document& of = doc();
  const HistoryEntry* const now = of.history.now();
  if (of.source.kind != SourceKind::kProgram || of.source.program.script != request.script ||
      now == nullptr)
    return;
  banner_->clear(QStringLiteral("program-failed"));
  const size_t at = of.history.Find(request);
  const HistoryEntry* const there = at == History::kNone ? nullptr : &of.history.entries()[at];
  const auto saved_since = [&](const HistoryEntry& entry) {
    const QFileInfo script(QFile::decodeName(request.script.c_str()));
    return script.lastModified().toSecsSinceEpoch() > entry.when_unix_s;
  };
  const bool shown =
      there == now && session().shown() != nullptr && !session().partial() && loading_ != of.id();
  const bool known = there != nullptr && !saved_since(*there) &&
                     (shown || QFileInfo::exists(QString::fromStdString(there->file)));
  if (!known && request.planned()) return StartProgramIn(of, program_->request());
  if (!known) return Say(tr("This result is no longer saved and cannot be shown again"));
  of.source.program = request;
  of.Expect(std::nullopt);
  digests_.cancel(of.id());  // the digest of the plan that was stopped
  of.latest.reset();
  of.SetLatestFile({});
  if (shown) return RefreshTabs();
  // Do not compare with the partial trace of the stopped plan.
  if (of.session.partial())
    of.session.SetPrevious(nullptr);
  else
    of.session.KeepAsPrevious();
  ShowResult(at);
}

void MainWindow::stopProgram() { runner_->stop(); }

void MainWindow::programAgainOn(const QString& device) {
  if (runner_->busy()) return;
  Document* of = doc().source.kind == SourceKind::kProgram ? &doc() : documents_.Find(program_id_);
  if (of == nullptr) return;
  // First show the result with which the new plan will be compared.
  if (of->id() != doc().id()) showDocument(of->id());
  if (of->session.shown() == nullptr || of->session.partial()) {
    if (of->state() == DocumentState::kFailed) return;
    connect(
        this, &MainWindow::documentShown, this,
        [this, device, id = of->id()] {
          if (doc().id() == id) programAgainOn(device);
        },
        Qt::SingleShotConnection);
    return;
  }
  program::Request request = of->id() == program_id_ ? runner_->request() : of->source.program;
  request.device = device.toStdString();
  // A recording may have no limit of steps. The plan then uses the default number of steps, which
  // is enough, because later steps repeat.
  if (!request.planned() && request.steps == 0) request.steps = program::Request().steps;
  request.where = program::Where::kPlanned;
  program_->setRequest(request);
  SetBaseline(session().shown(), QString::fromStdString(of->FileOfResult()),
              /*for_this_only=*/true);
  of->compare_at_end = true;
  request = program_->request();  // now contains the interpreter that the page has chosen
  Store(*settings_, request);
  StartProgramIn(*of, request);
}

void MainWindow::ShowPartialTrace(const std::shared_ptr<const trace::Trace>& trace) {
  Document* of = documents_.Find(program_id_);
  if (of == nullptr) return;
  of->latest = trace;
  // If it cannot be shown now, skip this partial trace. The next one arrives soon, and also
  // contains its events.
  if (programBehind() || digests_.busy() || !timeline_->ready()) return;
  BecomeProgram(*of);
  // If there are several ranks, show device 0 by default, not the device with the largest peak:
  // while the trace grows, another device may get the largest peak.
  Digested(*of, trace, false, true, of->device.value_or(0));
}

// Makes the program's document show the new run.
void MainWindow::BecomeProgram(Document& program) {
  program.session.ShowRun();
  if (program.run_shown) return;
  program.run_shown = true;
  program.session.KeepAsPrevious();
}

void MainWindow::ProgramEnded(const ProgramEnd& ended) {
  ProgramEnd end = ended;
  program_->setEnd(end);
  const QString script = ScriptName();
  Document* of = documents_.Find(program_id_);
  // If the final trace could not be read, use the last partial trace.
  if (end.trace == nullptr && of != nullptr) end.trace = of->latest;
  if (of != nullptr) {
    auto report = std::make_shared<ProgramReport>(
        ProgramReport{.end = end, .received = end.trace != nullptr, .output = runner_->output()});
    report->end.trace.reset();
    report->end.folder.reset();
    program_reports_[program_id_] = std::move(report);
  }
  if (end.trace != nullptr) KeepResult(end.trace, script, end.folder);
  if (end.trace == nullptr && of != nullptr) of->scratch.clear();
  const bool compare = of != nullptr && std::exchange(of->compare_at_end, false);
  if (of == nullptr || of->stopping || of->id() != doc().id()) {
    undo_at_end_ = redo_at_end_ = 0;
    if (of != nullptr) ProgramEndedBehind(*of, end);
    if (of != nullptr && of->stopping) CloseNow(of->id());
    // While it ran, the page showed this program, whatever program's document was active.
    if (doc().id() != program_id_ && doc().source.kind == SourceKind::kProgram) ShowReport();
    GoOnClosing();
    return;
  }
  SetBusy({});
  of->Ended();
  // If a plan was stopped for an undo, its trace is saved, but is not a result of the document.
  const bool undone = undo_at_end_ == of->id() || redo_at_end_ == of->id();
  if (end.trace != nullptr && !undone) {
    of->latest = end.trace;
    BecomeProgram(*of);
    // Show the trace even if the run was stopped or failed.
    Digested(*of, end.trace, false, false, of->device);
    if (compare) openPage(QStringLiteral("compare"));
  }
  RefreshTabs();
  for (const std::string& warning : end.trace ? end.trace->warnings : std::vector<std::string>())
    log_->appendPlainText(QString::fromStdString(i18n::Shown(warning)));
  if (!end.remark.isEmpty()) log_->appendPlainText(end.remark);
  if (!end.error.isEmpty()) {
    const QString place = end.place.isEmpty() ? QString() : tr(" (%1)").arg(end.place);
    QString next = end.next;
    if (!next.isEmpty()) next.prepend(QLatin1Char(' '));
    if (end.trace == nullptr && session().shown() != nullptr)
      next += tr(" The current view is unchanged.");
    QString error = end.error;
    error[0] = error[0].toUpper();
    const bool explain = end.out_of_memory && end.trace != nullptr;
    banner_->show({.kind = "program-failed",
                   .title = explain ? tr("%1 does not fit into the GPU").arg(script)
                                    : tr("%1 failed").arg(script),
                   .text = tr("%1%2.%3").arg(error, place, next),
                   .action = explain ? tr("See what would help") : QString(),
                   .run = [this] { openPage(QStringLiteral("out-of-memory")); }});
    if (explain) openPage(QStringLiteral("out-of-memory"));
    const bool planned = runner_->request().planned();
    Say((planned ? tr("Not planned: %1") : tr("Not recorded: %1")).arg(end.error + place));
    ShowFailed(planned ? tr("Nothing was planned") : tr("Nothing was recorded"), end.error + place,
               tr("The page on the left shows the program's last output"));
    Q_EMIT failed(end.error);
  } else if (end.stopped) {
    Say(tr("%1 was stopped").arg(script));
    ShowFailed(tr("Stopped"), script, tr("Press Ctrl+R to start the program again"));
  }
  actions_.Refresh();
  UndoAtEnd(of->id());
  GoOnClosing();
}

// Called if another document is active, which stays active. A banner offers to show the result.
void MainWindow::ProgramEndedBehind(Document& program, const ProgramEnd& end) {
  program.latest = end.trace;
  program.unseen = end.trace != nullptr;
  program.Ended();
  RefreshTabs();
  const QString script = ScriptName();
  const QString title = end.error.isEmpty() ? end.stopped ? tr("%1 was stopped").arg(script)
                                                          : tr("%1 has ended").arg(script)
                                            : tr("%1 failed").arg(script);
  QString error = end.error;
  if (!error.isEmpty()) error = error[0].toUpper() + error.mid(1) + QStringLiteral(". ");
  Say(end.error.isEmpty() ? title : tr("%1: %2").arg(title, end.error));
  if (banner_->kind() != QLatin1String("not-kept"))
    banner_->show(
        {.kind = "program-ended",
         .tone = end.error.isEmpty() ? Banner::Tone::kWarning : Banner::Tone::kBad,
         .title = title,
         .text =
             error + (end.trace == nullptr
                          ? tr("No events arrived.")
                          : tr("The events that arrived are saved and listed in the File menu.")),
         .action = end.trace == nullptr ? QString() : tr("Show the result"),
         .run = [this] { showProgram(); },
         .of_window = true});
  actions_.Refresh();
}

}  // namespace vramscope::ui
