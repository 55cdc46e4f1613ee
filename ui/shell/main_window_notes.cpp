// Notes and bookmarks. The user adds them from the timeline's menu or by a key. They are listed on
// their own page, shown as flags on the ruler, and saved in a side file. Changes can be undone.
#include <QDateTime>
#include <QDockWidget>
#include <QFileInfo>
#include <QTabWidget>
#include <algorithm>
#include <utility>

#include "ui/notes/note_store.h"
#include "ui/notes/notes_page.h"
#include "ui/panels/search_panel.h"
#include "ui/shell/history_panel.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/model/note_marks.h"
#include "ui/timeline/model/thing_facts.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

constexpr int kStoreNotesMs = 1000;

}  // namespace

void MainWindow::BuildNotes(const QString& nothing) {
  notes_ = new NoteStore(QFileInfo(kept_.folder()).absolutePath() + QStringLiteral("/notes"), this);
  notes_page_ = new NotesPage;
  notes_page_->setEmptyText(nothing);
  tabs_->addTab(notes_page_, tr("Notes"));
}

void MainWindow::ConnectNotes() {
  // Read the notes only when the trace is complete, because the content hash of a growing trace
  // changes.
  connect(timeline_, &timeline::TimelineWidget::dataShown, this, [this] {
    const auto data = timeline_->data();
    const bool whole = data != nullptr && !data->is_state() && !session().partial();
    notes_->show(whole ? data->shared_trace() : nullptr);
  });
  // Also read them if a trace was first drawn as a partial trace, and is complete now.
  connect(this, &MainWindow::documentShown, this, [this] {
    const auto data = timeline_->data();
    if (data == nullptr || data->is_state() || session().partial()) return;
    if (notes_->content().empty() && !notes_->busy()) notes_->show(data->shared_trace());
  });
  connect(notes_, &NoteStore::changed, this, &MainWindow::ShowNotes);
  connect(notes_, &NoteStore::writeFailed, this,
          [this](const QString& reason) { Say(tr("Notes not saved: %1").arg(reason)); });
  connect(timeline_, &timeline::TimelineWidget::noteRequested, this, &MainWindow::BeginNote);
  connect(notes_page_, &NotesPage::added, this, [this](Note note) {
    if (!notes_->ready() || notes_->notes().size() >= kMostNotes)
      return Say(tr("Not added: %1").arg(WhyNoNotes()));
    note.written_unix_s = QDateTime::currentSecsSinceEpoch();
    NoteList after = notes_->notes();
    InsertNote(&after, std::move(note));
    ChangeNotes(tr("Add note"), std::move(after));
  });
  connect(notes_page_, &NotesPage::edited, this, [this](size_t at, const QString& text) {
    NoteList after = notes_->notes();
    if (at >= after.size()) return;
    after[at].text = NoteText(text.toStdString());
    if (after[at] == notes_->notes()[at]) return;
    after[at].written_unix_s = QDateTime::currentSecsSinceEpoch();
    ChangeNotes(tr("Edit note"), std::move(after));
  });
  connect(notes_page_, &NotesPage::removed, this, [this](size_t at) {
    NoteList after = notes_->notes();
    if (at >= after.size()) return;
    after.erase(after.begin() + static_cast<std::ptrdiff_t>(at));
    ChangeNotes(tr("Delete note"), std::move(after));
  });
  connect(notes_page_, &NotesPage::chosen, this, &MainWindow::RevealNote);
  connect(notes_page_, &NotesPage::ended, this, [this] { timeline_->setFocus(); });
}

void MainWindow::AddNoteActions() {
  actions_.Add({.id = "edit.add-note",
                .menu = tr("Edit"),
                .text = tr("Add note …"),
                .shortcuts = {QKeySequence(QStringLiteral("Ctrl+M"))},
                .run = [this] { AddNote(); },
                .enabled = [this] { return WhyNoNotes().isEmpty(); },
                .tip = tr("Attaches a note to the block, range or cursor that was chosen last, or "
                          "else to the peak. A note without text is a bookmark"),
                .why_not = tr("Notes need a complete run with a timeline"),
                .separator_before = true,
                .words = {tr("bookmark"), tr("annotate"), tr("comment")}});
  actions_.Add(
      {.id = "edit.keep-range",
       .menu = tr("Edit"),
       .text = tr("Keep the selected range …"),
       .shortcuts = {QKeySequence(QStringLiteral("Ctrl+Shift+N"))},
       .run = [this] { KeepRange(); },
       .enabled =
           [this] {
             const auto [begin, end] = timeline_->range();
             return begin < end && WhyNoNotes().isEmpty();
           },
       .tip =
           tr("Adds a note with the range's peak, change in memory, and bytes allocated and freed"),
       .why_not = tr("Select a range first: drag in the timeline, or set marks A and B"),
       .words = {tr("range"), tr("measure"), tr("several")}});
}

QString MainWindow::WhyNoNotes() const {
  if (session().shown() == nullptr || StateIsShown())
    return tr("Notes need a complete run with a timeline");
  if (!notes_->error().isEmpty())
    return tr("the notes of this run cannot be read: %1").arg(notes_->error());
  if (!notes_->ready()) return tr("the notes of this run have not been read yet");
  if (notes_->notes().size() >= kMostNotes)
    return tr("a run can have at most %1 notes").arg(kMostNotes);
  return {};
}

// Begins a note about the thing that was last chosen in the timeline. If none was chosen, begins a
// note about the peak.
void MainWindow::AddNote() {
  switch (timeline_->lastChosen()) {
    case timeline::Chosen::kThing: {
      const std::optional<query::Thing> thing = timeline_->selectedThing();
      return BeginNote(query::BeginOf(timeline_->data()->trace(), *thing), thing);
    }
    case timeline::Chosen::kRange:
      return KeepRange();
    case timeline::Chosen::kCursor:
      return BeginNote(timeline_->cursorTime(), {});
    case timeline::Chosen::kNothing:
      return BeginNote(session().shown()->summary.peak.context.time_ns, {});
  }
}

void MainWindow::BeginNote(qint64 time_ns, const std::optional<query::Thing>& thing) {
  if (const QString why = WhyNoNotes(); !why.isEmpty()) return Say(tr("Not added: %1").arg(why));
  const auto data = timeline_->data();
  Note note{
      .time_ns = std::clamp<int64_t>(time_ns, data->trace().begin_ns(), data->trace().end_ns()),
      .thing = thing};
  if (thing) note.what = NoteText(timeline::FactsOfThing(*data, *thing).title);
  openPage(QStringLiteral("notes"));
  notes_page_->begin(note);
}

void MainWindow::ChangeNotes(const QString& what, NoteList after) {
  if (!notes_->ready()) return;
  doc().undo.Push({.kind = UndoStep::Kind::kNotes,
                   .text = what.toStdString(),
                   .notes_of = notes_->content(),
                   .notes_before = std::make_shared<const NoteList>(notes_->notes()),
                   .notes_after = std::make_shared<const NoteList>(after)});
  notes_->set(notes_->content(), std::move(after));
  actions_.Refresh();
}

void MainWindow::ShowNotes() {
  const auto data = timeline_->data();
  const std::shared_ptr<const Digest> digest = session().shown();
  const bool known = data != nullptr && !notes_->content().empty() && digest != nullptr &&
                     digest->trace == data->shared_trace();
  notes_page_->setNotes(known ? digest : nullptr, notes_->notes(), notes_->error());
  std::shared_ptr<timeline::NoteMarks> marks;
  if (known) {
    marks = std::make_shared<timeline::NoteMarks>();
    marks->trace = data->shared_trace();
    for (const Note& note : notes_->notes())
      marks->notes.push_back({note.time_ns, note.end_ns.value_or(0), note.text, note.what});
  }
  timeline_->setNotes(marks);
  search_->setNotes(marks);
  CountNotes();
  actions_.Refresh();
}

// Copies the number and texts of the notes to the history entry of the shown result.
void MainWindow::CountNotes() {
  History& history = doc().history;
  if (!notes_->ready() || session().partial() || history.current() == History::kNone) return;
  const HistoryEntry& entry = *history.now();
  if (entry.notes == notes_->notes().size() && entry.note_texts == FirstTexts(notes_->notes()))
    return;
  history.SetNotes(history.current(), notes_->notes());
  history_->setHistory(doc());
  StoreSoon(kStoreNotesMs);
}

// Adds a note about the selected range, which gets a row on the notes page and a mark in the
// timeline.
void MainWindow::KeepRange() {
  const auto [begin, end] = timeline_->range();
  if (begin >= end) return;
  if (const QString why = WhyNoNotes(); !why.isEmpty()) return Say(tr("Not kept: %1").arg(why));
  const trace::Trace& trace = timeline_->data()->trace();
  Note note{.time_ns = std::max<int64_t>(begin, trace.begin_ns()),
            .end_ns = std::min<int64_t>(end, trace.end_ns())};
  if (*note.end_ns <= note.time_ns) return;
  openPage(QStringLiteral("notes"));
  notes_page_->begin(note);
}

void MainWindow::RevealNote(const Note& note) {
  if (note.end_ns) {
    timeline_->setRange(note.time_ns, *note.end_ns);
    breakdown_dock_->show();
    // Show the note's whole range, with a margin.
    timeline::TimelineWidget::Position at = timeline_->position();
    const bool all = at.begin_ns >= at.end_ns;
    if (all || (note.time_ns >= at.begin_ns && *note.end_ns <= at.end_ns)) return;
    const qint64 margin = (*note.end_ns - note.time_ns) / 2;
    at.begin_ns = note.time_ns - margin;
    at.end_ns = *note.end_ns + margin;
    timeline_->setPosition(at);
    return;
  }
  if (note.thing) {
    timeline_->follow(timeline::LinkTo(*note.thing));
    return;
  }
  timeline_->setCursorTime(note.time_ns);
  // Center the view on the note, without changing the zoom.
  timeline::TimelineWidget::Position at = timeline_->position();
  if (at.begin_ns >= at.end_ns || (note.time_ns >= at.begin_ns && note.time_ns < at.end_ns)) return;
  const qint64 width = at.end_ns - at.begin_ns;
  at.begin_ns = note.time_ns - width / 2;
  at.end_ns = at.begin_ns + width;
  timeline_->setPosition(at);
}

}  // namespace vramscope::ui
