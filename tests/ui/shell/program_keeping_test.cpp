// Tests that no click ends a running program without confirmation, and that results are kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QDateTime>
#include <QToolButton>

#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/ui/shell/program_window.h"
#include "tests/ui/shell/recorded_trace.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// This program writes two blocks at the start, more once "more" exists, and ends once "go" exists.
constexpr const char* kLong =
    "about()\nchunk(2)\nwait('more')\nchunk(3)\nwait('go')\nchunk(1)\nabout(ended='end')\n";

class ProgramKeeping : public testing::ProgramWindow {
 protected:
  void RunLong() {
    Run(kLong);
    ASSERT_TRUE(WaitFor([this] { return Blocks() == 2; }));
  }
  bool ShowsAPlan() {
    return window_->digest() != nullptr && window_->digest()->trace->info.has_config;
  }
  // Checks that the newest stored file has all blocks that the program reported.
  void ExpectStored(uint64_t blocks) {
    ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
    ASSERT_FALSE(StoredFiles().isEmpty());
    const auto trace = trace::ReadTraceFile(StoredFiles().front().toStdString(), {});
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_EQ((*trace)->allocations.size(), blocks);
  }
  QString Recorded() {
    const QString path = folder_.filePath(QStringLiteral("recorded.trace"));
    EXPECT_TRUE(
        trace::WriteTraceFile(*vramscope::testing::MakeRecordedTrace({}), path.toStdString(), {})
            .ok());
    return path;
  }
  QStringList Recent() {
    QStringList out;
    for (const QJsonValue& path : window_->dumpState()["recent"].toArray()) out << path.toString();
    return out;
  }
};

TEST_F(ProgramKeeping, PlanDoesNotStopTheProgram) {
  RunLong();
  window_->runConfig(window_->config());
  ASSERT_TRUE(WaitFor([this] { return ShowsAPlan(); }));
  EXPECT_TRUE(window_->programBehind());
  const QJsonArray tabs = window_->dumpState()["documents"].toArray();
  ASSERT_EQ(tabs.size(), 2);
  EXPECT_EQ(tabs[0].toObject()["title"].toString(), "train.py");
  EXPECT_EQ(tabs[0].toObject()["state"].toString(), "working");
  EXPECT_TRUE(Running());
  // The canvas must not switch to the program's results by itself.
  Touch("more");
  ASSERT_TRUE(WaitFor([this] { return window_->programRunner()->state().events >= 10; }));
  QTest::qWait(400);
  EXPECT_TRUE(ShowsAPlan());
  Touch("go");
  ExpectStored(6);
  EXPECT_TRUE(ShowsAPlan());
  EXPECT_EQ(Banner("kind"), "program-ended");
  EXPECT_EQ(Recent().value(0), StoredFiles().front());
  // The button in the banner must show the result.
  window_->findChild<QToolButton*>(QStringLiteral("banner-action"))->click();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 6u);
  EXPECT_FALSE(window_->partial());
}

// A cached plan is shown without a new run. A new run would have ended the program.
TEST_F(ProgramKeeping, CachedPlanDoesNotStopTheProgram) {
  window_->runConfig(window_->config());
  ASSERT_TRUE(Idle());
  RunLong();
  window_->runConfig(window_->config());
  EXPECT_TRUE(ShowsAPlan());
  EXPECT_TRUE(Running());
  Touch("more");
  ASSERT_TRUE(WaitFor([this] { return window_->programRunner()->state().events >= 10; }));
  QTest::qWait(400);
  EXPECT_TRUE(ShowsAPlan());
  // When the user shows the running program again, it must continue.
  window_->showProgram();
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 5; }));
  EXPECT_FALSE(window_->programBehind());
  Touch("go");
  ExpectStored(6);
  EXPECT_EQ(Blocks(), 6u);
}

TEST_F(ProgramKeeping, OpeningAFileDoesNotStopTheProgram) {
  const QString path = Recorded();
  RunLong();
  window_->openFile(path);
  ASSERT_TRUE(WaitFor([this] {
    return window_->dumpState()["title"].toString().startsWith(QLatin1String("recorded.trace"));
  }));
  EXPECT_TRUE(Running());
  const auto shown = window_->digest();
  Touch("more");
  Touch("go");
  ExpectStored(6);
  EXPECT_EQ(window_->digest(), shown);
  EXPECT_EQ(Banner("title"), "train.py has ended");
}

// If a file cannot be opened, the shown document must stay.
TEST_F(ProgramKeeping, FailedOpenKeepsTheProgramShown) {
  RunLong();
  window_->openFile(folder_.filePath(QStringLiteral("missing.trace")));
  ASSERT_TRUE(WaitFor([this] { return Banner("kind") == "open-failed"; }));
  Touch("more");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 5; }));
  Touch("go");
  ExpectStored(6);
}

TEST_F(ProgramKeeping, ClosingTheWindowAsksAndSavesTheResult) {
  RunLong();
  AnswerNext("keepRunning");
  EXPECT_FALSE(window_->close());
  EXPECT_EQ(answered_, 1);
  EXPECT_TRUE(window_->isVisible());
  EXPECT_TRUE(Running());
  Touch("more");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 5; }));
  AnswerNext("stopAndKeep");
  window_->close();
  EXPECT_EQ(answered_, 2);
  ASSERT_TRUE(WaitFor([this] { return !window_->isVisible(); }));
  EXPECT_TRUE(ProgramEnded());
  ExpectStored(5);
}

// Regression test: after "Restart now" in the settings, the question was about closing.
TEST_F(ProgramKeeping, RestartAsksAboutRestartingAndSavesTheResult) {
  RunLong();
  window_->openSettings(QStringLiteral("appearance"));
  auto* restart = window_->findChild<QAbstractButton*>(QStringLiteral("settingsRestart"));
  ASSERT_NE(restart, nullptr);
  AnswerNext("keepRunning");
  restart->click();
  EXPECT_THAT(asked_.toStdString(), StartsWith("Restarting"));
  EXPECT_TRUE(Running());
  AnswerNext("keepRunning");
  EXPECT_FALSE(window_->close());
  EXPECT_THAT(asked_.toStdString(), StartsWith("Closing"));
  EXPECT_FALSE(window_->restartRequested());
  AnswerNext("stopAndKeep");
  restart->click();
  ASSERT_TRUE(WaitFor([this] { return !window_->isVisible(); }));
  EXPECT_TRUE(window_->restartRequested());
  ExpectStored(2);
}

// While another document is shown, the tab of the program is closed.
TEST_F(ProgramKeeping, ClosingTheTabAsksAndSavesTheResult) {
  RunLong();
  window_->runConfig(window_->config());
  ASSERT_TRUE(WaitFor([this] { return ShowsAPlan(); }));
  ASSERT_EQ(window_->documents().size(), 2u);
  const DocumentId program = window_->documents().at(0).id();
  AnswerNext("keepRunning");
  window_->closeDocument(program);
  EXPECT_EQ(answered_, 1);
  EXPECT_EQ(window_->documents().size(), 2u);
  EXPECT_TRUE(Running());
  AnswerNext("stopAndKeep");
  window_->closeDocument(program);
  EXPECT_EQ(answered_, 2);
  ASSERT_TRUE(WaitFor([this] { return window_->documents().size() == 1; }));
  EXPECT_TRUE(ProgramEnded());
  ExpectStored(2);
  EXPECT_TRUE(ShowsAPlan());
}

// All runs of a script must be in one history. A click there must show an earlier result.
TEST_F(ProgramKeeping, EarlierResultCanBeShownAgain) {
  Run("about()\nchunk(2)\nabout(ended='end')\n");
  ASSERT_TRUE(Idle());
  Run("about()\nchunk(3)\nabout(ended='end')\n");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 3u);
  EXPECT_EQ(window_->documents().size(), 1u);
  ASSERT_EQ(window_->dumpState()["history"].toArray().size(), 2);
  window_->showEntry(0);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_EQ(window_->documents().active().history.current(), 0u);
  EXPECT_EQ(window_->dumpState()["history"].toArray().size(), 2);
}

// A program may ignore the signals that should end it. The window must still close in the end.
TEST_F(ProgramKeeping, ClosingKillsAProgramThatIgnoresSignals) {
  Run("import signal\nfor s in signal.SIGINT, signal.SIGTERM:\n    signal.signal(s, "
      "signal.SIG_IGN)\nabout()\nchunk(2)\nwait('never')\n");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 2; }));
  AnswerNext("stopAndKeep");
  window_->close();
  ASSERT_TRUE(WaitFor([this] { return !window_->isVisible(); }));
  EXPECT_TRUE(ProgramEnded());
  ExpectStored(2);
}

TEST_F(ProgramKeeping, CancelAsksBeforeItStopsTheProgram) {
  RunLong();
  QAction* cancel = window_->actionRegistry()->Find(QStringLiteral("run.cancel"));
  AnswerNext("keepRunning");
  cancel->trigger();
  EXPECT_EQ(answered_, 1);
  EXPECT_TRUE(Running());
  AnswerNext("stopAndKeep");
  cancel->trigger();
  EXPECT_EQ(answered_, 2);
  ExpectStored(2);
  EXPECT_EQ(Blocks(), 2u);
}

TEST_F(ProgramKeeping, SaveByTheUserReplacesTheStoredCopy) {
  Run("about()\nchunk(2)\nabout(ended='end')\n");
  ASSERT_TRUE(Idle());
  ASSERT_EQ(StoredFiles().size(), 1);
  const QString saved = folder_.filePath(QStringLiteral("mine.trace"));
  window_->saveTrace(saved);
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(QFile::exists(saved));
  EXPECT_TRUE(StoredFiles().isEmpty());
  EXPECT_EQ(Recent(), QStringList{saved});
}

TEST_F(ProgramKeeping, UnstoredResultIsReportedAndClosingAsks) {
  // Creates a file where the folder of results would be, so that the folder cannot be created.
  QFile(window_->storedResults().folder()).open(QIODevice::WriteOnly);
  Run("about()\nchunk(2)\nabout(ended='end')\n");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "not-kept");
  EXPECT_THAT(Banner("text"), HasSubstr("results"));
  // The warning must stay when another file is opened, and closing must ask.
  window_->openFile(Recorded());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "not-kept");
  AnswerNext("discard");
  EXPECT_TRUE(window_->close());
  EXPECT_EQ(answered_, 1);
}

TEST_F(ProgramKeeping, EachUnstoredResultIsAskedAbout) {
  QFile(window_->storedResults().folder()).open(QIODevice::WriteOnly);
  Run("about()\nchunk(2)\nabout(ended='end')\n");
  ASSERT_TRUE(Idle());
  const QString other = scripts_.filePath(QStringLiteral("other.py"));
  ASSERT_TRUE(QFile::copy(ScriptFile(), other));
  window_->openProgram(other);
  Click("programStart");
  ASSERT_TRUE(Idle());
  ASSERT_EQ(window_->documents().size(), 2u);
  EXPECT_THAT(Banner("title"), HasSubstr("other.py"));
  // The banner is about the result of the active tab.
  const DocumentId first = window_->documents().at(0).id(),
                   second = window_->documents().at(1).id();
  window_->showDocument(first);
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Banner("title"), HasSubstr("train.py"));
  window_->showDocument(second);
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Banner("title"), HasSubstr("other.py"));
  // After one result was saved, the window must still ask about the other one.
  const QString saved = folder_.filePath(QStringLiteral("saved.trace"));
  window_->saveTrace(saved);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->documents().active().FileOfResult(), saved.toStdString());
  EXPECT_THAT(Banner("title"), HasSubstr("train.py"));
  AnswerNext("discard");
  EXPECT_TRUE(window_->close());
  EXPECT_EQ(answered_, 1);
}

TEST_F(ProgramKeeping, UndoReturnsToTheResultOfTheProgram) {
  Run("about()\nchunk(2)\nabout(ended='end')\n");
  ASSERT_TRUE(Idle());
  const auto result = window_->digest();
  run::RunConfig other = window_->config();
  other.batch += 1;
  window_->editConfig(other);
  ASSERT_TRUE(WaitFor([this] { return ShowsAPlan() && !window_->busy(); }));
  window_->undo();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->digest(), result);
  window_->redo();
  ASSERT_TRUE(WaitFor([this] { return ShowsAPlan() && !window_->busy(); }));
}

TEST(StoredResults, PrunesOldestAndChoosesUniqueNames) {
  QTemporaryDir folder;
  const StoredResults kept(folder.filePath(QStringLiteral("a/b")));
  QStringList paths;
  for (int i = 0; i < StoredResults::kMostResults + 3; ++i) {
    const auto path = kept.NewPath(QStringLiteral("../../etc/pass wd"));
    ASSERT_TRUE(path.ok()) << path.status();
    EXPECT_TRUE(kept.Has(*path)) << path->toStdString();
    EXPECT_FALSE(paths.contains(*path));
    paths << *path;
    QFile file(*path);
    ASSERT_TRUE(file.open(QIODevice::ReadWrite));
    file.setFileTime(QDateTime::currentDateTime().addSecs(i), QFileDevice::FileModificationTime);
  }
  EXPECT_EQ(kept.Prune().size(), 3);
  EXPECT_FALSE(QFile::exists(paths.front()));
  EXPECT_TRUE(QFile::exists(paths.back()));
}

}  // namespace
}  // namespace vramscope::ui
