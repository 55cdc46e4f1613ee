// Tests notes and bookmarks in the real window: adding, changing, undoing and storing them, and
// refusing invalid files of notes.
#include <gmock/gmock.h>

#include <QContextMenuEvent>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QTimer>

#include "tests/ui/shell/recorded_window.h"
#include "ui/notes/note_store.h"
#include "ui/notes/notes_page.h"
#include "ui/panels/range_rows.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/history_panel.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class NotesWindowTest : public testing::RecordedWindow {
 protected:
  void OpenAndWait() {
    OpenRecorded();
    ASSERT_TRUE(WaitFor([this] { return window_->settled() && window_->noteStore()->ready(); }));
  }
  QJsonArray Notes() { return State()["tables"].toObject()["notes"].toObject()["notes"].toArray(); }
  QJsonObject Note(int at) { return Notes()[at].toObject(); }
  int Flags() {
    window_->settleCanvas();
    QTest::qWait(50);
    return State()["timeline"].toObject()["drawn"].toObject()["notes"].toInt();
  }
  NotesPage* Page() { return window_->notesPage(); }
  void Trigger(const char* id) {
    window_->actionRegistry()->Refresh();
    window_->actionRegistry()->Find(QString::fromLatin1(id))->trigger();
  }
  void Type(const char* text) {
    ASSERT_TRUE(Page()->edit()->hasFocus());
    Page()->edit()->setText(QString::fromUtf8(text));
    QTest::keyClick(Page()->edit(), Qt::Key_Return);
  }
  bool Saved() {
    return WaitFor([this] { return !window_->noteStore()->busy(); });
  }
  QString SideFile() { return window_->noteStore()->pathOf(window_->noteStore()->content()); }
  timeline::TimelineWidget* Timeline() { return window_->timelineWidget(); }
};

TEST_F(NotesWindowTest, AddsEditsDeletesAndUndoesNotes) {
  OpenAndWait();
  const qint64 middle = (Timeline()->trace()->begin_ns() + Timeline()->trace()->end_ns()) / 2;
  Timeline()->setCursorTime(middle);
  Trigger("edit.add-note");
  EXPECT_EQ(Notes().size(), 0) << "there is no note before its text is entered";
  Type("where it grows");
  ASSERT_EQ(Notes().size(), 1);
  EXPECT_NEAR(Note(0)["time_ns"].toDouble(), static_cast<double>(middle), 1);
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "where it grows");
  EXPECT_TRUE(Timeline()->hasFocus());
  EXPECT_FALSE(Page()->view()->currentIndex().isValid()) << "a new note is not selected";
  EXPECT_EQ(Flags(), 1);
  // A note without text is a bookmark, here of a block.
  Timeline()->select({2});
  Trigger("edit.add-note");
  Type("");
  ASSERT_EQ(Notes().size(), 2);
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "");
  EXPECT_THAT(Note(0)["what"].toString().toStdString(), HasSubstr("block"));
  // When a row is selected, what the note is about must be shown, and its text can be edited.
  Timeline()->clearSelection();
  Page()->view()->selectRow(0);
  EXPECT_EQ(Timeline()->selection().value, 2u);
  Page()->edit()->setFocus();
  Type("the optimizer's");
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "the optimizer's");
  Page()->view()->selectRow(0);
  QTest::keyClick(Page()->view(), Qt::Key_Delete);
  EXPECT_EQ(Notes().size(), 1);
  window_->undo();
  ASSERT_EQ(Notes().size(), 2);
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "the optimizer's");
  window_->undo();
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "");
  window_->undo();
  window_->undo();
  EXPECT_EQ(Notes().size(), 0);
  ASSERT_TRUE(Saved());
  EXPECT_FALSE(QFile::exists(SideFile())) << "a run without notes has no side file";
  window_->redo();
  EXPECT_EQ(Notes().size(), 1);
  ASSERT_TRUE(Saved());
  EXPECT_TRUE(QFile::exists(SideFile()));
}

// Regression test: redo showed the plan of an undone toggle, and did not restore the undone note.
TEST_F(NotesWindowTest, RedoRestoresANoteBesideAnUndoneToggle) {
  OpenAndWait();
  const auto recording = window_->digest();
  const auto add = [this](const char* text) {
    Timeline()->setCursorTime(Timeline()->trace()->begin_ns() + 1);
    Trigger("edit.add-note");
    Type(text);
  };
  const auto toggle = [this](int batch) {
    run::RunConfig config = window_->config();
    config.batch = batch;
    window_->editConfig(config);
    ASSERT_TRUE(Idle());
    ASSERT_TRUE(window_->digest()->trace->info.has_config);
  };
  const auto undo = [this] {
    window_->undo();
    ASSERT_TRUE(Idle());
    ASSERT_TRUE(WaitFor([this] { return window_->settled() && window_->noteStore()->ready(); }));
  };
  toggle(5);
  undo();
  ASSERT_EQ(window_->digest(), recording);
  add("after the toggle");
  undo();
  ASSERT_EQ(Notes().size(), 0);
  window_->redo();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->digest(), recording);
  EXPECT_EQ(Notes().size(), 1);
  window_->actionRegistry()->Refresh();
  EXPECT_FALSE(window_->actionRegistry()->Find(QStringLiteral("edit.redo"))->isEnabled())
      << "a note is a change, after which the toggle cannot be redone";
  // Redo must repeat steps in the order in which they were made: first the note, then the toggle.
  toggle(6);
  undo();
  undo();
  ASSERT_EQ(Notes().size(), 0);
  window_->redo();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->digest(), recording);
  EXPECT_EQ(Notes().size(), 1);
  window_->redo();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().batch, 6);
}

TEST_F(NotesWindowTest, KeepsSeveralRangesWithTheirFigures) {
  OpenAndWait();
  window_->actionRegistry()->Refresh();
  EXPECT_FALSE(window_->actionRegistry()->Find(QStringLiteral("edit.keep-range"))->isEnabled());
  const qint64 begin = Timeline()->trace()->begin_ns();
  const qint64 length = Timeline()->trace()->end_ns() - begin;
  const auto keep = [&](double from, double to, const char* text) {
    Timeline()->setRange(begin + static_cast<qint64>(from * static_cast<double>(length)),
                         begin + static_cast<qint64>(to * static_cast<double>(length)));
    Trigger("edit.keep-range");
    Type(text);
  };
  keep(0.1, 0.3, "first");
  keep(0.5, 0.9, "second");
  keep(0.2, 0.6, "across both");
  ASSERT_EQ(Notes().size(), 3);
  ASSERT_TRUE(WaitFor([this] { return !Page()->busy(); }));
  EXPECT_EQ(Flags(), 3);
  // The row of each note must have the figures of the note's range.
  const auto* model = static_cast<TableModel*>(Page()->view()->model());
  ASSERT_EQ(model->columns().size(), 9u);
  for (int row = 0; row < 3; ++row) {
    const QJsonObject note = Note(static_cast<int>(model->table().rows[size_t(row)].group));
    const RangeFigures figures =
        FiguresOfRange(*window_->digest(), static_cast<int64_t>(note["time_ns"].toDouble()),
                       static_cast<int64_t>(note["end_ns"].toDouble()));
    EXPECT_EQ(*model->cell(row, 5)->bytes, static_cast<int64_t>(figures.peak)) << row;
    EXPECT_EQ(*model->cell(row, 6)->bytes,
              static_cast<int64_t>(figures.at_end) - static_cast<int64_t>(figures.at_begin));
    EXPECT_EQ(*model->cell(row, 7)->bytes, static_cast<int64_t>(figures.allocated_bytes));
    EXPECT_EQ(*model->cell(row, 8)->bytes, static_cast<int64_t>(figures.freed_bytes));
  }
  // Selecting a row must select its range again.
  Timeline()->setRange(0, 0);
  Page()->view()->selectRow(2);
  EXPECT_EQ(static_cast<double>(Timeline()->range().first), Note(2)["time_ns"].toDouble());
  EXPECT_EQ(static_cast<double>(Timeline()->range().second), Note(2)["end_ns"].toDouble());
  window_->undo();
  EXPECT_EQ(Notes().size(), 2);
  window_->redo();
  // The notes must still be there after the next start.
  ASSERT_TRUE(Saved());
  const QJsonArray before = Notes();
  Open({});
  OpenAndWait();
  EXPECT_EQ(Notes(), before);
}

TEST_F(NotesWindowTest, AreFoundBySearchAndCountedInTheHistory) {
  OpenAndWait();
  const qint64 begin = Timeline()->trace()->begin_ns(), end = Timeline()->trace()->end_ns();
  Timeline()->setCursorTime((begin + end) / 2);
  Trigger("edit.add-note");
  Type("Where the ROOF leaks");
  Timeline()->setRange(begin + (end - begin) / 4, end);
  Trigger("edit.keep-range");
  Type("roof again");
  const auto history = [this] {
    return State()["history"].toArray().last().toObject()["notes"].toInt();
  };
  EXPECT_EQ(history(), 2);
  const auto tip = [this] {
    const QAbstractItemModel* rows = window_->findChild<HistoryPanel*>()->list()->model();
    return rows->index(rows->rowCount() - 1, 0).data(Qt::ToolTipRole).toString();
  };
  EXPECT_THAT(tip().toStdString(),
              AllOf(HasSubstr("Where the ROOF leaks"), HasSubstr("roof again")));
  Timeline()->setRange(0, 0);
  const auto search = [this](const char* text) {
    window_->openPage(QStringLiteral("search"));
    window_->searchPanel()->search(QString::fromLatin1(text));
    EXPECT_TRUE(WaitFor([this] { return !window_->searchPanel()->busy(); }));
    return window_->searchPanel()->dumpState();
  };
  QJsonObject found = search("roof");
  EXPECT_EQ(found["notes"].toInt(), 2);
  EXPECT_EQ(found["rows"].toInt(), 2);
  EXPECT_THAT(found["count"].toString().toStdString(), HasSubstr("2 found: note 2"));
  // Selecting a search result must move the cursor to the note.
  Timeline()->setCursorTime(-1);
  window_->searchPanel()->view()->selectRow(1);
  EXPECT_NEAR(static_cast<double>(Timeline()->cursorTime()), static_cast<double>((begin + end) / 2),
              1);
  // A note that is added while a search is shown must be found, too.
  Timeline()->setCursorTime(begin);
  Trigger("edit.add-note");
  Type("roof, third");
  EXPECT_EQ(search("roof")["notes"].toInt(), 3);
  EXPECT_EQ(search("kind = note and name ~ third")["notes"].toInt(), 1);
  EXPECT_EQ(search("size > 1 KiB")["notes"].toInt(), 0);
  EXPECT_EQ(search("no such text")["notes"].toInt(), 0);
  EXPECT_EQ(history(), 3);
  window_->undo();
  EXPECT_EQ(history(), 2);
}

// Regression test: a range was drawn after a block was selected, but the note was about the block.
TEST_F(NotesWindowTest, NoteIsAboutWhatWasChosenLast) {
  OpenAndWait();
  const qint64 begin = Timeline()->trace()->begin_ns(), end = Timeline()->trace()->end_ns();
  const qint64 middle = (begin + end) / 2;
  const auto add = [this](const char* text) {
    Trigger("edit.add-note");
    Type(text);
    for (const QJsonValue& each : Notes())
      if (each["text"].toString() == QLatin1String(text)) return each.toObject();
    return QJsonObject();
  };
  Timeline()->select({2});
  Timeline()->setRange(middle, end);
  const QJsonObject range = add("range");
  EXPECT_EQ(range["what"].toString().toStdString(), "");
  EXPECT_NEAR(range["time_ns"].toDouble(), static_cast<double>(middle), 1);
  EXPECT_NEAR(range["end_ns"].toDouble(), static_cast<double>(end), 1);
  Timeline()->select({3});
  EXPECT_THAT(add("block")["what"].toString().toStdString(), HasSubstr("block"));
  Timeline()->setCursorTime(begin + 7);
  const QJsonObject cursor = add("cursor");
  EXPECT_EQ(cursor["what"].toString().toStdString(), "");
  EXPECT_NEAR(cursor["time_ns"].toDouble(), static_cast<double>(begin + 7), 1);
  // The cursor, which was set last, is gone. So the note must be about the block, which is still
  // selected.
  Timeline()->setCursorTime(-1);
  EXPECT_THAT(add("block again")["what"].toString().toStdString(), HasSubstr("block"));
}

// Another window adds a note while the text of one is being edited.
TEST_F(NotesWindowTest, NotesOfAnotherWindowKeepTheSelectionAndTheTypedText) {
  OpenAndWait();
  NoteStore* store = window_->noteStore();
  const int64_t begin = Timeline()->trace()->begin_ns();
  const ui::Note mine = {.time_ns = begin + 2000, .text = "mine"};
  const ui::Note other = {.time_ns = begin + 1000, .text = "other"};
  store->set(store->content(), {mine});
  Page()->view()->selectRow(0);
  Page()->edit()->setFocus();
  QTest::keyClicks(Page()->edit(), QStringLiteral("+"));
  EXPECT_EQ(Page()->edit()->text().toStdString(), "mine+");
  store->set(store->content(), {other, mine});
  EXPECT_EQ(Page()->edit()->text().toStdString(), "mine+");
  QTest::keyClick(Page()->edit(), Qt::Key_Return);
  ASSERT_EQ(Notes().size(), 2);
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "other");
  EXPECT_EQ(Note(1)["text"].toString().toStdString(), "mine+");
}

TEST_F(NotesWindowTest, EscapeCancelsANewNote) {
  OpenAndWait();
  Trigger("edit.add-note");
  Page()->edit()->setText(QStringLiteral("no"));
  QTest::keyClick(Page()->edit(), Qt::Key_Escape);
  EXPECT_EQ(Notes().size(), 0);
  EXPECT_TRUE(Timeline()->hasFocus());
}

TEST_F(NotesWindowTest, BlockMenuAddsANote) {
  OpenAndWait();
  Timeline()->select({1});
  QTimer::singleShot(0, Timeline(), [this] {
    auto* menu = Timeline()->findChild<QMenu*>(QStringLiteral("thing_menu"));
    ASSERT_NE(menu, nullptr);
    for (QAction* action : menu->actions())
      if (action->text().startsWith(QLatin1String("Add note"))) action->trigger();
    menu->close();
  });
  QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(5, 5),
                          Timeline()->mapToGlobal(QPoint(5, 5)));
  QApplication::sendEvent(Timeline(), &event);
  EXPECT_TRUE(State()["tables"].toObject()["notes"].toObject()["begun"].toBool());
  Page()->edit()->setFocus();
  Type("by the menu");
  ASSERT_EQ(Notes().size(), 1);
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "by the menu");
}

TEST_F(NotesWindowTest, AreShownForTheSameContentInAnotherFile) {
  OpenAndWait();
  const auto trace = window_->digest()->trace;
  QFile file(folder_.filePath(QStringLiteral("recorded.trace")));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray before = file.readAll();
  Trigger("edit.add-note");
  Type("kept");
  ASSERT_TRUE(Saved());
  file.seek(0);
  EXPECT_EQ(file.readAll(), before) << "the trace file is not touched";
  Open({});
  window_->openFile(Write("copy.trace", *trace));
  ASSERT_TRUE(WaitFor([this] { return window_->noteStore()->ready() && window_->settled(); }));
  ASSERT_EQ(Notes().size(), 1);
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "kept");
  EXPECT_EQ(Flags(), 1);
  // A file with other contents must not have these notes.
  window_->openFile(Write("other.trace", *testing::MakeRecordedTrace({.steps = 2})));
  ASSERT_TRUE(WaitFor([&] {
    return window_->settled() && window_->noteStore()->ready() &&
           window_->digest()->trace->events.size() != trace->events.size();
  }));
  EXPECT_EQ(Notes().size(), 0);
}

TEST_F(NotesWindowTest, MalformedSideFileIsRejectedAndNotOverwritten) {
  OpenAndWait();
  const QString path = SideFile();
  ASSERT_TRUE(QDir().mkpath(QFileInfo(path).absolutePath()));
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("{\"vramscope_notes\": 1, \"notes\": [{\"time_ns\": 1e400}]}");
  file.close();
  Open({});
  OpenRecorded();
  ASSERT_TRUE(WaitFor([this] { return !window_->noteStore()->busy() && window_->settled(); }));
  EXPECT_FALSE(window_->noteStore()->ready());
  EXPECT_THAT(State()["tables"].toObject()["notes"].toObject()["error"].toString().toStdString(),
              HasSubstr(QFileInfo(path).fileName().toStdString()));
  EXPECT_EQ(Notes().size(), 0);
  EXPECT_FALSE(window_->actionRegistry()->Find(QStringLiteral("edit.add-note"))->isEnabled());
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_THAT(file.readAll().toStdString(), HasSubstr("1e400"));
}

}  // namespace
}  // namespace vramscope::ui
