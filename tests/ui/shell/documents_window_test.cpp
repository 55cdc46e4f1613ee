// Tests documents in the real window: tabs, history, comparisons, and which results stay in memory.
// Opening, toggling and planning must never replace another document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <QAbstractButton>
#include <QContextMenuEvent>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QListView>
#include <QMimeData>
#include <QSignalSpy>
#include <QTabBar>

#include "profiler/trace/writer.h"
#include "tests/ui/shell/recorded_trace.h"
#include "tests/ui/shell/shell_window.h"
#include "ui/shell/document_tabs.h"
#include "ui/shell/history_panel.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using vramscope::testing::MakeRecordedTrace;
using vramscope::testing::RecordedOptions;

class Documents : public testing::ShellWindow {
 protected:
  QString Write(const char* name, const RecordedOptions& options = {}) {
    const QString path = folder_.filePath(QLatin1String(name));
    EXPECT_TRUE(trace::WriteTraceFile(*MakeRecordedTrace(options), path.toStdString(), {}).ok());
    return path;
  }
  void OpenAndWait(const QString& path) {
    window_->openFile(path);
    ASSERT_TRUE(Idle());
    ASSERT_THAT(State()["title"].toString().toStdString(),
                HasSubstr(QFileInfo(path).fileName().toStdString()))
        << Banner("text").toStdString();
  }
  void Edit(int64_t batch) {
    run::RunConfig config = window_->config();
    config.batch = batch;
    window_->editConfig(config);
    ASSERT_TRUE(Idle());
  }
  std::vector<std::string> Titles() {
    std::vector<std::string> out;
    for (const QJsonValue& tab : State()["documents"].toArray())
      out.push_back(tab.toObject()["title"].toString().toStdString());
    return out;
  }
  std::string Shown() {
    for (const QJsonValue& tab : State()["documents"].toArray())
      if (tab.toObject()["shown"].toBool()) return tab.toObject()["title"].toString().toStdString();
    return "none";
  }
  std::vector<std::string> Changes() {
    std::vector<std::string> out;
    for (const QJsonValue& row : State()["history"].toArray())
      out.push_back(row.toObject()["change"].toString().toStdString());
    return out;
  }
  int CurrentEntry() {
    const QJsonArray rows = State()["history"].toArray();
    for (int i = 0; i < rows.size(); ++i)
      if (rows[i].toObject()["current"].toBool()) return i;
    return -1;
  }
  DocumentId IdOf(size_t place) { return window_->documents().at(place).id(); }
  QTabBar* Bar() { return window_->findChild<QTabBar*>(QStringLiteral("documentBar")); }
  QListView* History() { return window_->findChild<QListView*>(QStringLiteral("historyList")); }
  static void Drop(QWidget* onto, const QPoint& at, const QMimeData& data) {
    QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(onto, &enter);
    QDropEvent drop(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(onto, &drop);
  }
  // Drops a dragged tab at a position: in the middle of another tab, or between two tabs.
  void DropTab(DocumentId dragged, const QPoint& at) {
    QMimeData data;
    data.setData(QLatin1String(kDocumentMime), QByteArray::number(dragged));
    Drop(Bar(), at, data);
  }
};

// Regression test: a toggle replaced the recording, and undo showed a plan.
TEST_F(Documents, ToggleOnARecordingOpensASeparatePlan) {
  OpenAndWait(Write("recorded.trace"));
  const auto recording = window_->digest();
  EXPECT_EQ(window_->documents().size(), 1u) << "the file replaces an empty plan";
  Edit(5);
  ASSERT_EQ(window_->documents().size(), 2u);
  EXPECT_EQ(Shown(), "qwen2-0.5b");
  EXPECT_TRUE(window_->digest()->trace->info.has_config);
  EXPECT_EQ(window_->documents().at(0).session.shown(), recording);
  Trigger("edit.undo");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->digest(), recording);
  EXPECT_EQ(Shown(), "recorded.trace");
  EXPECT_EQ(window_->documents().size(), 2u);
  Trigger("edit.redo");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().batch, 5);
  EXPECT_EQ(Shown(), "qwen2-0.5b");
  // If the recording is shown again, a second toggle must continue in the same plan.
  window_->showDocument(IdOf(0));
  Edit(6);
  EXPECT_EQ(window_->documents().size(), 2u);
  EXPECT_EQ(window_->config().batch, 6);
}

// Regression test: the canvas still showed the recording, while tab and figures were the plan's.
TEST_F(Documents, FailedPlanShowsItsEarlierResultNotTheRecording) {
  RunDefault();
  const auto plan = window_->digest();
  OpenAndWait(Write("recorded.trace"));
  ASSERT_NE(window_->digest(), plan);
  run::RunConfig config = window_->config();
  config.batch = 7;
  ASSERT_GT(window_->worker()->processId(), 0);
  ::kill(static_cast<pid_t>(window_->worker()->processId()), SIGKILL);
  window_->editConfig(config);  // before the window notices the kill
  ASSERT_TRUE(Idle());
  ASSERT_EQ(Banner("kind").toStdString(), "worker-lost");
  ASSERT_EQ(Shown(), "qwen2-0.5b");
  EXPECT_EQ(window_->digest(), plan);
  EXPECT_EQ(window_->timelineWidget()->trace(), plan->trace);
}

TEST_F(Documents, EachFileHasOneTabUntilItChanges) {
  RunDefault();
  const QString a = Write("a.trace"), b = Write("b.trace", {.steps = 2});
  OpenAndWait(a);
  OpenAndWait(b);
  EXPECT_THAT(Titles(), ElementsAre("qwen2-0.5b", "a.trace", "b.trace"));
  EXPECT_EQ(Shown(), "b.trace");
  const auto first = window_->documents().at(1).session.shown();
  window_->openFile(a);
  EXPECT_EQ(Shown(), "a.trace") << "it is not read again";
  EXPECT_EQ(window_->digest(), first);
  EXPECT_EQ(window_->documents().size(), 3u);
  // If a file was written again, it must count as another file.
  ASSERT_TRUE(QFile::remove(a));
  Write("a.trace", {.steps = 3});
  OpenAndWait(a);
  EXPECT_THAT(Titles(), ElementsAre("qwen2-0.5b", "a.trace", "b.trace", "a.trace (2)"));
}

TEST_F(Documents, MissingFileOpensNoTab) {
  RunDefault();
  const auto shown = window_->digest();
  window_->openFile(folder_.filePath(QStringLiteral("missing.trace")));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "open-failed");
  EXPECT_THAT(Banner("text").toStdString(), HasSubstr("The current view is unchanged"));
  EXPECT_EQ(window_->documents().size(), 1u);
  EXPECT_EQ(window_->digest(), shown);
}

// Regression test: the title contained the name of the file twice.
TEST_F(Documents, WindowTitleNamesTheFileOnce) {
  OpenAndWait(Write("step.trace"));
  EXPECT_EQ(State()["title"].toString().count(QLatin1String("step.trace")), 1);
}

TEST_F(Documents, EachEditAddsAHistoryEntryAndUndoGoesBack) {
  RunDefault();
  Edit(3);
  Edit(4);
  EXPECT_THAT(Changes(), ElementsAre("Plan", HasSubstr("3"), HasSubstr("4")));
  EXPECT_EQ(CurrentEntry(), 2);
  const QJsonObject last = State()["history"].toArray()[2].toObject();
  EXPECT_THAT(last["difference"].toString().toStdString(), StartsWith("+"));
  EXPECT_FALSE(last["reserved"].toString().isEmpty());
  Trigger("edit.undo");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(CurrentEntry(), 1);
  EXPECT_EQ(Changes().size(), 3u);
  EXPECT_EQ(window_->config().batch, 3);
  // A click must go to the clicked entry, and undo must go back to the entry before the click.
  const QModelIndex first = History()->model()->index(0, 0);
  QTest::mouseClick(History()->viewport(), Qt::LeftButton, {},
                    History()->visualRect(first).center());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(CurrentEntry(), 0);
  EXPECT_EQ(window_->config().batch, run::RunConfigBuilder().Build()->batch);
  Trigger("edit.undo");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(CurrentEntry(), 1);
  EXPECT_EQ(Changes().size(), 3u);
}

TEST_F(Documents, HistoryAndUndoBelongToTheirTab) {
  RunDefault();
  Edit(3);
  Trigger("document.new");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->documents().size(), 2u);
  EXPECT_EQ(window_->config().batch, 3) << "a new plan has the settings of the shown one";
  EXPECT_EQ(Changes().size(), 1u);
  EXPECT_FALSE(window_->actionRegistry()->Find(QStringLiteral("edit.undo"))->isEnabled());
  Edit(7);
  Trigger("document.previous");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().batch, 3);
  EXPECT_EQ(Changes().size(), 2u);
  Trigger("edit.undo");
  ASSERT_TRUE(Idle());
  EXPECT_NE(window_->config().batch, 3);
  Trigger("document.next");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().batch, 7);
}

TEST_F(Documents, TabRestoresViewSelectionAndBaseline) {
  const QString a = Write("a.trace"), b = Write("b.trace", {.steps = 2});
  OpenAndWait(a);
  timeline::TimelineWidget* canvas = window_->timelineWidget();
  canvas->settle();
  const int64_t begin = window_->digest()->trace->begin_ns(),
                end = window_->digest()->trace->end_ns();
  const timeline::TimelineWidget::Position where{.begin_ns = begin + (end - begin) / 4,
                                                 .end_ns = begin + (end - begin) / 2,
                                                 .cursor_ns = begin + (end - begin) / 3,
                                                 .range_begin_ns = begin + (end - begin) / 5,
                                                 .range_end_ns = begin + (end - begin) / 3,
                                                 .selection = {2}};
  canvas->setPosition(where);
  Trigger("run.pin");
  OpenAndWait(b);
  canvas->settle();
  EXPECT_EQ(canvas->position().begin_ns, 0) << "the whole of the other trace is shown";
  EXPECT_EQ(canvas->cursorTime(), -1);
  EXPECT_EQ(canvas->range(), std::pair(qint64{0}, qint64{0}));
  EXPECT_FALSE(canvas->selection().valid());
  Trigger("run.unpin");
  window_->showDocument(IdOf(0));
  ASSERT_TRUE(Idle());
  canvas->settle();
  const timeline::TimelineWidget::Position now = canvas->position();
  EXPECT_NEAR(static_cast<double>(now.begin_ns), static_cast<double>(where.begin_ns), 2);
  EXPECT_NEAR(static_cast<double>(now.end_ns), static_cast<double>(where.end_ns), 2);
  EXPECT_NEAR(static_cast<double>(now.cursor_ns), static_cast<double>(where.cursor_ns), 2);
  EXPECT_NEAR(static_cast<double>(now.range_end_ns), static_cast<double>(where.range_end_ns), 2);
  EXPECT_EQ(now.selection, where.selection);
  EXPECT_TRUE(State()["baseline"].toBool());
  window_->showDocument(IdOf(1));
  ASSERT_TRUE(Idle());
  EXPECT_FALSE(State()["baseline"].toBool());
}

// Regression test: a baseline appeared in other documents, too.
TEST_F(Documents, BaselineBelongsToOneDocument) {
  OpenAndWait(Write("recorded.trace"));
  window_->findChild<QAbstractButton*>(QStringLiteral("recordingPlan"))->click();
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(State()["baseline"].toBool());
  EXPECT_EQ(window_->documents().size(), 2u);
  window_->showDocument(IdOf(0));
  EXPECT_FALSE(State()["baseline"].toBool()) << "the recording is compared with nothing";
  window_->showDocument(IdOf(1));
  OpenAndWait(Write("other.trace", {.steps = 2}));
  EXPECT_FALSE(State()["baseline"].toBool());
}

TEST_F(Documents, DroppingATabOnAnotherComparesThem) {
  RunDefault();
  OpenAndWait(Write("a.trace"));
  OpenAndWait(Write("b.trace", {.steps = 2}));
  const auto plan = window_->documents().at(0).session.shown();
  DropTab(IdOf(0), Bar()->tabRect(1).center());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Shown(), "a.trace");
  EXPECT_EQ(window_->documents().active().session.baseline(), plan);
  EXPECT_EQ(State()["tables"].toObject()["current"].toString(), "Compare");
  EXPECT_GT(ComparedRows(), 0);
  // The command must compare with the document that was shown before this one.
  Trigger("document.compare");
  EXPECT_EQ(window_->documents().active().session.baseline(),
            window_->documents().at(2).session.shown());
  // Dropping a tab on itself must do nothing. Dropping it between two other tabs must move it
  // there.
  DropTab(IdOf(1), Bar()->tabRect(1).center());
  EXPECT_EQ(Shown(), "a.trace");
  DropTab(IdOf(2), Bar()->tabRect(0).topLeft() + QPoint(2, 4));
  EXPECT_THAT(Titles(), ElementsAre("b.trace", "qwen2-0.5b", "a.trace"));
  EXPECT_EQ(Shown(), "a.trace");
}

TEST_F(Documents, DroppingAHistoryEntryOnAnotherComparesThem) {
  RunDefault();
  Edit(3);
  Edit(4);
  const auto row = [this](int at) {
    return History()->visualRect(History()->model()->index(at, 0)).center();
  };
  QMimeData data;
  data.setData(QStringLiteral("application/x-vramscope-history-entry"), "0");
  History()->scrollToTop();
  Drop(History()->viewport(), row(1), data);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(CurrentEntry(), 1);
  EXPECT_EQ(window_->config().batch, 3);
  EXPECT_TRUE(State()["baseline"].toBool());
  EXPECT_GT(ComparedRows(), 0);
  // The key C must compare the current result with the selected one.
  History()->setCurrentIndex(History()->model()->index(2, 0));
  QTest::keyClick(History(), Qt::Key_C);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(CurrentEntry(), 1);
  EXPECT_EQ(window_->documents().active().session.baseline()->trace->info.config.batch, 4);
}

// Regression test: the status line stated the peak of the document that was shown before.
TEST_F(Documents, StatusDoesNotDescribeAnotherDocument) {
  RunDefault();
  EXPECT_TRUE(
      WaitFor([this] { return State()["status"].toString().contains(QStringLiteral(" ms")); }));
  OpenAndWait(Write("a.trace"));
  ASSERT_THAT(State()["status"].toString().toStdString(), HasSubstr("a.trace"));
  window_->showDocument(IdOf(0));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Shown(), "qwen2-0.5b");
  ASSERT_TRUE(WaitFor([this] { return !State()["status"].toString().isEmpty(); }));
  EXPECT_THAT(State()["status"].toString().toStdString(), Not(HasSubstr("a.trace")));
  // The time since the run began must not be stated as the time that the run took.
  EXPECT_THAT(State()["status"].toString().toStdString(), Not(HasSubstr(" ms")));
}

TEST_F(Documents, KeysAndClicksSwitchAndCloseTabs) {
  RunDefault();
  OpenAndWait(Write("a.trace"));
  OpenAndWait(Write("b.trace", {.steps = 2}));
  QTest::keyClick(window_.get(), Qt::Key_1, Qt::ControlModifier);
  EXPECT_EQ(Shown(), "qwen2-0.5b");
  QTest::keyClick(window_.get(), Qt::Key_Tab, Qt::ControlModifier);
  EXPECT_EQ(Shown(), "a.trace");
  QTest::keyClick(window_.get(), Qt::Key_9, Qt::ControlModifier);
  EXPECT_EQ(Shown(), "a.trace") << "there is no ninth tab";
  QTest::mouseClick(Bar(), Qt::LeftButton, {}, Bar()->tabRect(2).center());
  EXPECT_EQ(Shown(), "b.trace");
  QTest::mouseClick(Bar(), Qt::MiddleButton, {}, Bar()->tabRect(1).center());
  EXPECT_THAT(Titles(), ElementsAre("qwen2-0.5b", "b.trace"));
  EXPECT_EQ(Shown(), "b.trace");
  QTest::keyClick(window_.get(), Qt::Key_W, Qt::ControlModifier);
  EXPECT_THAT(Titles(), ElementsAre("qwen2-0.5b"));
  EXPECT_THAT(State()["title"].toString().toStdString(), Not(HasSubstr("b.trace")));
  EXPECT_TRUE(window_->digest()->trace->info.has_config);
  // With a single document, there are no tabs. Closing the last document must leave an empty one.
  EXPECT_FALSE(window_->findChild<DocumentTabs*>()->isVisible());
  QTest::keyClick(window_.get(), Qt::Key_W, Qt::ControlModifier);
  EXPECT_EQ(window_->documents().size(), 1u);
  EXPECT_EQ(window_->digest(), nullptr);
  EXPECT_EQ(State()["timeline"].toObject()["status"].toString(), "none");
  RunDefault();
}

// If the user leaves a tab before the plan of a toggle is finished, the plan must be made when the
// tab is shown again.
TEST_F(Documents, UnfinishedPlanIsResumedWhenItsTabIsShown) {
  RunDefault();
  OpenAndWait(Write("a.trace"));
  window_->showDocument(IdOf(0));
  run::RunConfig config = window_->config();
  config.batch = 11;
  window_->editConfig(config);
  window_->showDocument(IdOf(1));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Shown(), "a.trace");
  EXPECT_TRUE(State()["recorded"].toBool());
  window_->showDocument(IdOf(0));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().batch, 11);
  EXPECT_EQ(window_->digest()->trace->info.config.batch, 11);
  EXPECT_EQ(Changes().size(), 2u);
}

TEST_F(Documents, OldResultsAreReleasedAndReadAgain) {
  std::vector<std::weak_ptr<const Digest>> digests;
  for (int i = 0; i < 6; ++i) {
    OpenAndWait(Write(qPrintable(QStringLiteral("%1.trace").arg(i)),
                      {.steps = static_cast<decltype(RecordedOptions::steps)>(i + 1)}));
    digests.push_back(window_->digest());
  }
  ASSERT_TRUE(WaitFor([&] { return digests[0].expired() && digests[1].expired(); }));
  EXPECT_FALSE(digests[3].expired());
  EXPECT_EQ(State()["documents"].toArray()[0].toObject()["state"].toString(), "unloaded");
  // The file must be read again and give the same result.
  window_->showDocument(IdOf(0));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(State()["title"].toString().toStdString(), HasSubstr("0.trace"));
  EXPECT_EQ(window_->documents().at(0).history.entries().size(), 1u);
  // If the file of a document no longer exists, a message must say this, and the tab must stay.
  ASSERT_TRUE(QFile::remove(folder_.filePath(QStringLiteral("1.trace"))));
  window_->showDocument(IdOf(1));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "open-failed");
  EXPECT_EQ(window_->documents().size(), 6u);
  EXPECT_EQ(Shown(), "1.trace");
  EXPECT_EQ(State()["timeline"].toObject()["status"].toString(), "failed");
}

// A result that is not in memory must be read before it is compared.
TEST_F(Documents, UnloadedDocumentIsReadForComparison) {
  for (int i = 0; i < 6; ++i)
    OpenAndWait(Write(qPrintable(QStringLiteral("%1.trace").arg(i)),
                      {.steps = static_cast<decltype(RecordedOptions::steps)>(i + 1)}));
  ASSERT_EQ(window_->documents().at(0).state(), DocumentState::kUnloaded);
  const DocumentId last = IdOf(5);
  window_->compareDocuments(last, IdOf(0));
  ASSERT_TRUE(WaitFor([&] {
    return !window_->busy() && window_->documents().active().session.baseline() != nullptr;
  }));
  EXPECT_EQ(Shown(), "5.trace");
  EXPECT_EQ(window_->documents().active().session.baseline(),
            window_->documents().at(0).session.shown());
}

TEST_F(Documents, SettingsAreSavedAndRestored) {
  RunDefault();
  Edit(13);
  const QString path = folder_.filePath(QStringLiteral("run.json"));
  QSignalSpy done(window_.get(), &MainWindow::fileDone);
  window_->saveSettings(path);
  ASSERT_EQ(done.size(), 1);
  EXPECT_TRUE(done[0][1].toBool());
  Open(false);
  EXPECT_EQ(window_->config().batch, 13) << "the settings of the last run";
  Edit(2);
  window_->openFile(path);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().batch, 13);
}

// Writes images of tabs and a history for visual checks: documents_window_test --shots FOLDER
// 1680x1050.
int DrawImages(const QString& folder, const QString& size) {
  QTemporaryDir scratch;
  const QString worker = QStringLiteral(VRAMSCOPE_REAL_WORKER);
  MainWindow window(
      {.worker_program = worker.isEmpty() ? QStringLiteral(VRAMSCOPE_FAKE_WORKER) : worker,
       .settings_file = scratch.filePath(QStringLiteral("settings.ini")),
       .savings = false});
  window.resize(size.section(QLatin1Char('x'), 0, 0).toInt(),
                size.section(QLatin1Char('x'), 1, 1).toInt());
  window.show();
  const auto idle = [&] {
    return QTest::qWaitFor([&] { return !window.busy() && window.digest() != nullptr; }, 120'000);
  };
  const auto save = [&](const char* name) {
    for (const auto choice : {ThemeChoice::kDark, ThemeChoice::kLight}) {
      window.setThemeChoice(choice);
      window.settleCanvas();
      QTest::qWait(100);
      if (!window.grab().save(QStringLiteral("%1/%2-%3-%4.png")
                                  .arg(folder, QLatin1String(name), ThemeName(choice), size)))
        return false;
    }
    return true;
  };
  window.runConfig(window.config());
  bool good = idle();
  run::RunConfig config = window.config();
  for (const int64_t batch : {4, 2, 8}) {
    config.batch = batch;
    window.editConfig(config);
    good = idle() && good;
  }
  const auto toggle = [&](const char* id) {
    window.techniquePanel()->toggle(QLatin1String(id))->click();
    good = idle() && good;
  };
  toggle("checkpoint-layer");
  good = save("plan") && good;
  const QString file = scratch.filePath(QStringLiteral("recorded step 7 of a long name.trace"));
  good =
      trace::WriteTraceFile(*MakeRecordedTrace({.steps = 3}), file.toStdString(), {}).ok() && good;
  window.openFile(file);
  good = idle() && good;
  good = save("file") && good;
  window.newPlan();
  good = idle() && good;
  window.compareDocuments(window.documents().at(2).id(), window.documents().at(0).id());
  good = idle() && save("compared") && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  const QStringList arguments = QApplication::arguments();
  if (arguments.value(1) == QLatin1String("--shots"))
    return vramscope::ui::DrawImages(arguments.value(2), arguments.value(3));
  return RUN_ALL_TESTS();
}
