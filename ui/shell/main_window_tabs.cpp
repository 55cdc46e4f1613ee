// The documents in the tabs: activates, closes, releases and compares them. Also the active
// document's history, undo and redo.
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QTimer>
#include <algorithm>

#include "ui/explain/explain_panel.h"
#include "ui/jobs/release_later.h"
#include "ui/notes/note_store.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/techniques.h"
#include "ui/program/program_runner.h"
#include "ui/shell/document_tabs.h"
#include "ui/shell/header_bar.h"
#include "ui/shell/history_panel.h"
#include "ui/shell/main_window.h"
#include "ui/shell/savings.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

constexpr int kNumberedTabs = 9;

}  // namespace

void MainWindow::BuildTabs() {
  connect(document_tabs_, &DocumentTabs::chosen, this, &MainWindow::showDocument);
  connect(document_tabs_, &DocumentTabs::closeRequested, this, &MainWindow::closeDocument);
  connect(document_tabs_, &DocumentTabs::compareRequested, this, &MainWindow::compareDocuments);
  connect(document_tabs_, &DocumentTabs::newRequested, this, &MainWindow::newPlan);
  connect(document_tabs_, &DocumentTabs::closeOtherTabsRequested, this, [this](DocumentId id) {
    std::vector<DocumentId> others;
    for (size_t i = 0; i < documents_.size(); ++i)
      if (documents_.at(i).id() != id) others.push_back(documents_.at(i).id());
    for (const DocumentId other : others) closeDocument(other);
  });
  connect(document_tabs_, &DocumentTabs::moved, this, [this](size_t from, size_t to) {
    documents_.Move(from, to);
    RefreshTabs();
  });
  connect(history_, &HistoryPanel::chosen, this, &MainWindow::showEntry);
  connect(history_, &HistoryPanel::compareRequested, this, &MainWindow::compareEntries);
  // If a document had to be loaded for a comparison, compare the two documents when it is shown.
  connect(this, &MainWindow::documentShown, this, [this] {
    if (compare_later_with_ != doc().id() || session().partial()) return;
    compareDocuments(std::exchange(compare_later_, 0), std::exchange(compare_later_with_, 0));
  });
  RefreshTabs();
}

void MainWindow::AddDocumentActions() {
  const QString menu = tr("Document");
  const auto several = [this] { return documents_.size() > 1; };
  const auto keys = [](std::initializer_list<const char*> texts) {
    QList<QKeySequence> out;
    for (const char* text : texts) out << QKeySequence(QString::fromLatin1(text));
    return out;
  };
  actions_.Add({.id = "document.new",
                .menu = menu,
                .text = tr("New plan"),
                .shortcuts = keys({"Ctrl+T"}),
                .run = [this] { newPlan(); },
                .tip = tr("Opens a new tab with the settings of the current run"),
                .words = {tr("tab")}});
  actions_.Add({.id = "document.close",
                .menu = menu,
                .text = tr("Close"),
                .shortcuts = keys({"Ctrl+W"}),
                .run = [this] { closeDocument(doc().id()); },
                .words = {tr("tab")},
                .careful = true});
  actions_.Add({.id = "document.next",
                .menu = menu,
                .text = tr("Next document"),
                .shortcuts = keys({"Ctrl+Tab", "Ctrl+PgDown"}),
                .run = [this] { showDocument(documents_.Neighbour(1)); },
                .enabled = several,
                .separator_before = true,
                .words = {tr("tab")}});
  actions_.Add({.id = "document.previous",
                .menu = menu,
                .text = tr("Previous document"),
                .shortcuts = keys({"Ctrl+Shift+Tab", "Ctrl+PgUp"}),
                .run = [this] { showDocument(documents_.Neighbour(-1)); },
                .enabled = several,
                .words = {tr("tab")}});
  for (int i = 0; i < kNumberedTabs; ++i) {
    const auto place = static_cast<size_t>(i);
    actions_.Add({.id = QStringLiteral("document.%1").arg(i + 1),
                  .menu = menu,
                  .text = tr("Document %1").arg(i + 1),
                  .shortcuts = {QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1))},
                  .run = [this, place] { showDocument(documents_.at(place).id()); },
                  .enabled = [this, place] { return place < documents_.size(); }});
  }
  actions_.Add({.id = "document.compare",
                .menu = menu,
                .text = tr("Compare with the previously shown document"),
                .shortcuts = keys({"Ctrl+Shift+K"}),
                .run = [this] { compareDocuments(doc().id(), documents_.ShownBefore()); },
                .enabled = several,
                .tip = tr("Makes the previously shown document the baseline of the current "
                          "document. You can also drag one tab onto another"),
                .separator_before = true,
                .words = {tr("baseline"), tr("tab")}});
}

// Stores the view of the active document, so that it can be restored later.
void MainWindow::KeepView() {
  if (session().shown() == nullptr || timeline_->trace() != session().shown()->trace) return;
  const timeline::TimelineWidget::Position p = timeline_->position();
  doc().view = {p.begin_ns, p.end_ns, p.cursor_ns, p.range_begin_ns, p.range_end_ns, p.selection};
}

void MainWindow::MakeActive(DocumentId id) {
  if (id == doc().id()) return;
  KeepView();
  LeavePlans();
  documents_.Activate(id);
  Entered();
}

// Updates the controls and tabs after another document has become active.
void MainWindow::Entered() {
  if (doc().id() == gpu_run_id_ && gpu_worker_ != nullptr) {
    running_ = gpu_worker_;
    run_tag_ = gpu_tag_;
  }
  if (doc().source.kind == SourceKind::kProgram) {
    if (!runner_->busy()) ShowReport();
    ShowControlsPage(ControlsPage::kProgram);
  } else if (doc().source.kind != SourceKind::kFile) {
    ShowControlsPage(ControlsPage::kModel);
  }
  if (!savings_->shows(doc().config)) savings_->forget(QStringLiteral("…"), tr("not planned yet"));
  SetConfig(doc().config);
  RefreshTabs();
}

void MainWindow::showDocument(DocumentId id) {
  if (id == doc().id() || documents_.Find(id) == nullptr) return;
  next_file_.clear();  // that file was meant for a comparison in the document that is being left
  compare_later_ = compare_later_with_ = 0;
  MakeActive(id);
  status_->clear();  // the last message is about the document that was shown before
  banner_->clearOfDocument();
  if (id == program_id_) banner_->clear(QStringLiteral("program-ended"));
  ShowActive();
  if (banner_->kind() == QLatin1String("not-kept")) ShowUnkept();
}

void MainWindow::ShowActive() {
  Document& of = doc();
  const bool program = of.id() == program_id_ && runner_->busy();
  const bool goes_on = program || (of.id() == gpu_run_id_ && gpu_worker_ != nullptr);
  SetBusy({});
  if (of.session.shown() != nullptr) {
    ShowOnCanvas(false, false);
    const DocumentView& v = of.view;
    timeline_->setPosition(
        {v.begin_ns, v.end_ns, v.cursor_ns, v.range_begin_ns, v.range_end_ns, v.selection});
  } else {
    ShowNothing();
    timeline_->setFailed({}, {});
  }
  if (of.latest != nullptr) {
    // Show the trace that arrived while another document was shown. It is a partial trace if the
    // run is still in progress.
    if (of.source.kind == SourceKind::kProgram) BecomeProgram(of);
    Digested(of, of.latest, false, goes_on, of.device);
  } else if (of.NeedsReload()) {
    Reload(of);
  } else if (of.state() == DocumentState::kFailed) {
    ShowFailed(tr("No result"), QString::fromStdString(of.Title()),
               of.source.kind == SourceKind::kFile
                   ? tr("Check whether the file was moved. Press Ctrl+O to look for the file.")
                   : tr("Press Ctrl+R to run it again"));
  }
  if (program)
    SetBusy(tr("running %1 …").arg(ScriptName()));
  else if (goes_on)
    SetBusy(tr("running …"));
  else if (of.id() == loading_ && loader_->busy())
    SetBusy(tr("opening %1 …").arg(QFileInfo(loader_->path()).fileName()));
  FocusCanvas();
  actions_.Refresh();
}

// Computes the result of the active document again: plans its settings, or reads its file.
void MainWindow::Reload(Document& of) {
  if (of.source.kind == SourceKind::kPlan) return PlanOrRecall();
  LoadInto(of, QString::fromStdString(of.FileOfResult()), of.source.part);
}

// Makes a plan the active document. If a recording, a program or a run on the GPU is active, this
// is a plan that was opened from it, or the plan from which it was opened, or else a new plan.
void MainWindow::PlanInFront() {
  if (doc().source.kind == SourceKind::kPlan) return;
  const Document& from = doc();
  Document* plan = documents_.FindIf([&](const Document& d) {
    return d.source.kind == SourceKind::kPlan && d.opener == from.id();
  });
  if (plan == nullptr) {
    Document* opener = documents_.Find(from.opener);
    if (opener != nullptr && opener->source.kind == SourceKind::kPlan &&
        PlanKey(opener->config) == PlanKey(from.config))
      plan = opener;
  }
  if (plan == nullptr) {
    plan = &documents_.Open({.kind = SourceKind::kPlan});
  } else if (plan->session.baseline() == nullptr && !from.session.baseline_for_this_only()) {
    plan->session.SetBaseline(from.session.baseline(), from.session.baseline_file());
  }
  MakeActive(plan->id());
}

void MainWindow::PlanWith(const run::RunConfig& config) {
  PlanInFront();
  if (const HistoryEntry* now = doc().history.now();
      now != nullptr && PlanKey(now->config) != PlanKey(config))
    doc().Expect(DescribeChange(now->config, config));
  SetConfig(config);
}

void MainWindow::newPlan() {
  const DocumentId id = documents_.Open({.kind = SourceKind::kPlan}).id();
  MakeActive(id);
  ShowNothing();
  PlanOrRecall();
}

void MainWindow::closeDocument(DocumentId id) {
  Document* of = documents_.Find(id);
  if (of == nullptr) return;
  const bool program = id == program_id_ && runner_->busy();
  const auto goes_on = [&] {
    return (id == program_id_ && runner_->busy()) || (id == gpu_run_id_ && gpu_worker_ != nullptr);
  };
  if (goes_on()) {
    if (!AskToStop(tr("Closing the tab stops the run. The events that arrived so far are saved. "
                      "You can open them again from the File menu."),
                   id))
      return;
    if (goes_on()) {
      documents_.Find(id)->stopping = true;
      if (program)
        runner_->stop();
      else
        gpu_worker_->cancel();
      return;  // the document is closed when the run ends
    }
  }
  CloseNow(id);
}

void MainWindow::CloseNow(DocumentId id) {
  Document* of = documents_.Find(id);
  if (of == nullptr) return;
  const bool front = id == doc().id();
  if (id == loading_) {
    loading_ = 0;
    loader_->cancel();
  }
  if (front) LeavePlans();
  ReleaseLater(of->session.shown());
  program_reports_.erase(id);
  documents_.Close(id);
  if (!front) return RefreshTabs();
  SetBusy({});
  status_->clear();
  Entered();
  ShowActive();
}

// Releases the results of documents that are not shown, except documents that were shown recently
// or cannot reload.
void MainWindow::ReleaseHidden() {
  for (const DocumentId id : documents_.ToRelease()) {
    Document& of = *documents_.Find(id);
    if (of.source.kind != SourceKind::kPlan &&
        !QFileInfo::exists(QString::fromStdString(of.FileOfResult())))
      continue;
    ReleaseLater(of.session.shown());
    of.Release();
  }
}

void MainWindow::RefreshTabs() {
  document_tabs_->setDocuments(documents_);
  history_->setHistory(doc());
  DocumentsChanged();
}

bool MainWindow::CanRedo() const {
  return doc().undo.next_redo() != nullptr || doc().undo.redo_into != 0;
}

void MainWindow::undo() {
  if (!CanUndo() || WaitsForProgram(*doc().undo.next_undo(), true)) return;
  Apply(doc().undo.Undo(), true);
  actions_.Refresh();
}

void MainWindow::redo() {
  if (doc().undo.next_redo() == nullptr) {
    // The user made the change in this document, but `into` is the document that it changed.
    const DocumentId into = std::exchange(doc().undo.redo_into, 0);
    if (into == 0) return;
    MakeActive(into);
    if (doc().undo.next_redo() == nullptr) return ShowActive();
  }
  if (WaitsForProgram(*doc().undo.next_redo(), false)) return;
  Apply(doc().undo.Redo(), false);
  actions_.Refresh();
}

void MainWindow::Apply(const UndoStep& step, bool back) {
  if (step.kind == UndoStep::Kind::kLanes) {
    lanes_ = QString::fromStdString(back ? step.lanes_before : step.lanes_after);
    timeline_->setLaneSettings(lanes_);
    settings_->setValue(QStringLiteral("lanes"), lanes_);
    return;
  }
  if (step.kind == UndoStep::Kind::kNotes)
    return back ? notes_->change(step.notes_of, *step.notes_after, *step.notes_before)
                : notes_->change(step.notes_of, *step.notes_before, *step.notes_after);
  if (step.of_program()) {
    program::Request request = back ? step.program_before : step.program_after;
    if (step.kind == UndoStep::Kind::kToggles) {
      const std::vector<std::string> toggles = std::move(request.toggles);
      request = ProgramInForm();
      if (request.script != step.program_after.script) return;  // another program is in the form
      request.toggles = toggles;
    }
    return ReturnToProgram(request);
  }
  doc().Expect(std::nullopt);  // its result is an existing entry
  if (Document* from = documents_.Find(step.from); back && from != nullptr) {
    // Restore the plan's earlier settings, and show the document in which the user made the change.
    doc().config = step.before;
    from->undo.redo_into = doc().id();
    return showDocument(from->id());
  }
  SetConfig(back ? step.before : step.after);
  PlanOrRecall();
}

void MainWindow::showEntry(size_t at) {
  const History& history = doc().history;
  if (at >= history.entries().size() || at == history.current()) return;
  const HistoryEntry entry = history.entries()[at];
  if (doc().source.kind == SourceKind::kPlan) {
    doc().undo.Push(
        {.text = tr("Back to “%1”").arg(QString::fromStdString(entry.change)).toStdString(),
         .before = doc().config,
         .after = entry.config});
    doc().history.GoTo(at);
    doc().Expect(std::nullopt);
    SetConfig(entry.config);
    return PlanOrRecall();
  }
  if (!QFileInfo::exists(QString::fromStdString(entry.file)))
    return Say(tr("This result is no longer saved and cannot be shown again"));
  if (!entry.program.script.empty() && !runner_->busy()) {
    doc().undo.Push(
        {.kind = UndoStep::Kind::kProgram,
         .text = tr("Back to “%1”").arg(QString::fromStdString(entry.change)).toStdString(),
         .program_before = ProgramInForm(),
         .program_after = entry.program});
    program_->setRequest(entry.program);
    doc().source.program = entry.program;
  }
  if (doc().CanReload()) doc().Release();
  ShowResult(at);
  actions_.Refresh();
}

void MainWindow::ShowResult(size_t at) {
  doc().Expect(std::nullopt);  // not a new entry, even if the last run had no result
  doc().history.GoTo(at);
  RefreshTabs();
  Reload(doc());
}

// Shows the document `shown`, with the result of the document `with` as its baseline. If that
// result is not in memory, first shows `with`, so that the result is loaded.
void MainWindow::compareDocuments(DocumentId shown, DocumentId with) {
  Document *of = documents_.Find(shown), *other = documents_.Find(with);
  if (of == nullptr || other == nullptr || of == other) return;
  if (other->session.shown() == nullptr || other->session.partial()) {
    if (other->latest == nullptr && !other->NeedsReload())
      return Say(
          tr("%1 has no result to compare with yet").arg(QString::fromStdString(other->Title())));
    showDocument(with);
    compare_later_ = shown;
    compare_later_with_ = with;
    return;
  }
  const std::string file = other->FileOfResult();
  of->session.SetBaseline(other->session.shown(), file.empty() ? other->session.file() : file);
  if (of->id() != doc().id()) {
    showDocument(shown);
  } else {
    UpdateBaseline();
    actions_.Refresh();
  }
  openPage(QStringLiteral("compare"));
  Say(tr("%1 is compared with %2")
          .arg(QString::fromStdString(of->Title()), QString::fromStdString(other->Title())));
}

void MainWindow::compareEntries(size_t shown, size_t with) {
  const std::vector<HistoryEntry>& entries = doc().history.entries();
  if (shown >= entries.size() || with >= entries.size() || shown == with) return;
  const DocumentId id = doc().id();
  // Pins `digest`, the result of the entry `with`, as the baseline, and shows the entry `shown`.
  const auto pin = [this, id, shown](std::shared_ptr<const Digest> digest,
                                     const std::string& file) {
    if (doc().id() != id) return;
    SetBaseline(std::move(digest), QString::fromStdString(file));
    openPage(QStringLiteral("compare"));
    showEntry(shown);
  };
  if (with == doc().history.current() && session().shown() != nullptr && !session().partial())
    return pin(session().shown(), entries[with].file);
  if (doc().source.kind == SourceKind::kPlan) {
    if (auto known = cache_.Find(entries[with].config); known != nullptr) return pin(known, {});
  }
  connect(
      this, &MainWindow::documentShown, this,
      [this, id, with, pin] {
        // Pin nothing if the entry could not be shown.
        if (doc().id() == id && doc().history.current() == with && !session().partial())
          pin(session().shown(), doc().history.now()->file);
      },
      Qt::SingleShotConnection);
  showEntry(with);
}

}  // namespace vramscope::ui
