// Notes and bookmarks in the real window: made, changed, taken back, kept in a side file, refused.
#include <gmock/gmock.h>

#include <QContextMenuEvent>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QLineEdit>
#include <QMenu>
#include <QTimer>

#include "tests/ui/shell/recorded_window.h"
#include "ui/notes/note_store.h"
#include "ui/notes/notes_page.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

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

TEST_F(NotesWindowTest, ANoteIsMadeChangedDeletedAndTakenBack) {
  OpenAndWait();
  const qint64 middle = (Timeline()->trace()->begin_ns() + Timeline()->trace()->end_ns()) / 2;
  Timeline()->setCursorTime(middle);
  Trigger("edit.add-note");
  EXPECT_EQ(Notes().size(), 0) << "asked for, not made yet";
  Type("where it grows");
  ASSERT_EQ(Notes().size(), 1);
  EXPECT_NEAR(Note(0)["time_ns"].toDouble(), static_cast<double>(middle), 1);
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "where it grows");
  EXPECT_TRUE(Timeline()->hasFocus());
  EXPECT_FALSE(Page()->view()->currentIndex().isValid()) << "a new note is not gone to";
  EXPECT_EQ(Flags(), 1);
  // Of a block, as a bookmark.
  Timeline()->select({2});
  Trigger("edit.add-note");
  Type("");
  ASSERT_EQ(Notes().size(), 2);
  EXPECT_EQ(Note(0)["text"].toString().toStdString(), "");
  EXPECT_THAT(Note(0)["what"].toString().toStdString(), HasSubstr("block"));
  // A row reveals what it is of, and its text is changed above it.
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

TEST_F(NotesWindowTest, EscapeMakesNone) {
  OpenAndWait();
  Trigger("edit.add-note");
  Page()->edit()->setText(QStringLiteral("no"));
  QTest::keyClick(Page()->edit(), Qt::Key_Escape);
  EXPECT_EQ(Notes().size(), 0);
  EXPECT_TRUE(Timeline()->hasFocus());
}

TEST_F(NotesWindowTest, TheMenuOfABlockHasIt) {
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

TEST_F(NotesWindowTest, AreThereWhenTheSameContentIsOpenedFromAnotherFile) {
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
  // Of another content there are none.
  window_->openFile(Write("other.trace", *testing::MakeRecordedTrace({.steps = 2})));
  ASSERT_TRUE(WaitFor([&] {
    return window_->settled() && window_->noteStore()->ready() &&
           window_->digest()->trace->events.size() != trace->events.size();
  }));
  EXPECT_EQ(Notes().size(), 0);
}

TEST_F(NotesWindowTest, AHostileSideFileIsRefusedAndLeftAsItIs) {
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
