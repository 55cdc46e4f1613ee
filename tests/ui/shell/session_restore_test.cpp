// A window in a separate process opens files, changes plans and runs a program, and is killed at
// any time. The next window must restore everything that had arrived.
#include "tests/ui/shell/session_restore_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QJsonDocument>
#include <QLineEdit>
#include <QMap>
#include <QProcess>
#include <QProcessEnvironment>
#include <QToolButton>
#include <cstdio>

#include "profiler/run/toggles.h"
#include "profiler/trace/writer.h"
#include "tests/ui/shell/program_window.h"
#include "tests/ui/shell/recorded_trace.h"
#include "ui/notes/note_store.h"
#include "ui/notes/notes_page.h"
#include "ui/panels/technique_panel.h"
#include "ui/shell/session_file.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {

namespace {

// Returns the contents of the window as JSON: documents with their histories, the notes of each
// file, and running programs. All of these are on disk.
QByteArray StateOf(const MainWindow& window, const QMap<QString, QStringList>& notes) {
  QJsonArray documents;
  for (size_t i = 0; i < window.documents().size(); ++i) {
    const Document& document = window.documents().at(i);
    QJsonArray changes;
    for (const HistoryEntry& entry : document.history.entries())
      changes.append(QJsonObject{{"change", QString::fromStdString(entry.change)},
                                 {"peak", static_cast<double>(entry.peak_allocated)},
                                 {"notes", static_cast<int>(entry.notes)}});
    const auto shown = document.session.shown();
    documents.append(
        QJsonObject{{"kind", static_cast<int>(document.source.kind)},
                    {"file", QString::fromStdString(document.source.file)},
                    {"changes", changes},
                    {"blocks", shown ? static_cast<int>(shown->trace->allocations.size()) : 0}});
  }
  QJsonObject texts;
  for (auto at = notes.begin(); at != notes.end(); ++at)
    texts[at.key()] = QJsonArray::fromStringList(at.value());
  const QJsonObject state{{"documents", documents},
                          {"notes", texts},
                          {"worker", window.worker()->processId()},
                          {"program", window.programRunner()->processId()}};
  return QJsonDocument(state).toJson(QJsonDocument::Compact);
}

}  // namespace

int DriveWindow(const QStringList& arguments) {
  MainWindow window({.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                     .vramscope = QStringLiteral(VRAMSCOPE_PROGRAM),
                     .settings_file = arguments.value(0),
                     .savings = false});
  window.resize(1400, 900);
  window.show();
  const auto wait = [](const std::function<bool()>& what) {
    return QTest::qWaitFor(what, testing::kWaitMs);
  };
  const bool print_state = qEnvironmentVariableIsSet("VRAMSCOPE_DRIVE_STATE");
  QMap<QString, QStringList> notes;  // by their file
  for (const QString& command : arguments.mid(1)) {
    const QString value = command.section(QLatin1Char('='), 1);
    if (command.startsWith(QLatin1String("open="))) {
      window.openFile(value);
      if (!wait([&] { return !window.busy(); })) return 1;
    } else if (command.startsWith(QLatin1String("edit="))) {
      run::RunConfig config = window.config();
      config.batch = value.toInt();
      window.editConfig(config);
      if (!wait([&] { return !window.busy(); })) return 1;
    } else if (command.startsWith(QLatin1String("toggle="))) {
      const auto toggles = run::Toggles();
      const run::Toggle& toggle = *toggles[static_cast<size_t>(value.toInt())].toggle;
      window.techniquePanel()->Switch(toggle);
      if (!wait([&] { return !window.busy(); })) return 1;
    } else if (command.startsWith(QLatin1String("note="))) {
      if (!wait([&] { return window.noteStore()->ready(); })) return 1;
      window.actionRegistry()->Refresh();
      window.actionRegistry()->Find(QStringLiteral("edit.add-note"))->trigger();
      window.notesPage()->edit()->setText(value);
      QTest::keyClick(window.notesPage()->edit(), Qt::Key_Return);
      if (!wait([&] { return !window.noteStore()->busy(); })) return 1;
      notes[QString::fromStdString(window.documents().active().source.file)] << value;
      // Also waits until the history is stored, because it shows the number of notes.
      if (!wait([&] { return window.settled() && window.sessionStored(); })) return 1;
    } else if (command.startsWith(QLatin1String("run="))) {
      window.openProgram(value);
      window.startProgram();
      if (!wait([&] { return window.partial() && window.digest()->watched(); })) return 1;
    }
    if (!wait([&] { return window.sessionStored(); })) return 1;
    std::printf("done%s\n", print_state ? (' ' + StateOf(window, notes)).constData() : "");
    std::fflush(stdout);
  }
  wait([] { return false; });
  return 0;
}

namespace {

using ::testing::HasSubstr;
using vramscope::testing::MakeRecordedTrace;

class SessionRestore : public testing::ProgramWindow {
 protected:
  void SetUp() override {
    qputenv("TMPDIR", folder_.filePath(QStringLiteral("tmp")).toUtf8());
    QDir().mkpath(folder_.filePath(QStringLiteral("tmp")));
  }
  QString Write(const QString& name, int steps) {
    const QString path = folder_.filePath(name);
    EXPECT_TRUE(
        trace::WriteTraceFile(*MakeRecordedTrace({.steps = steps}), path.toStdString(), {}).ok());
    return path;
  }
  // Lets a window execute the given number of commands, and then kills it.
  void KillAfter(int done, const QStringList& commands) {
    QProcess driver;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"),
                       folder_.path());  // otherwise Qt creates a folder
    driver.setProcessEnvironment(environment);
    driver.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    driver.start(
        QCoreApplication::applicationFilePath(),
        QStringList{QStringLiteral("--drive"), folder_.filePath(QStringLiteral("settings.ini"))} +
            commands);
    for (int i = 0; i < done; ++i) {
      while (!driver.canReadLine()) ASSERT_TRUE(driver.waitForReadyRead(testing::kWaitMs)) << i;
      ASSERT_EQ(driver.readLine(), "done\n");
    }
    ::kill(static_cast<pid_t>(driver.processId()), SIGKILL);
    ASSERT_TRUE(driver.waitForFinished());
  }
  void Restore() {
    window_->actionRegistry()->Refresh();
    QAction* restore = window_->actionRegistry()->Find(QStringLiteral("document.restore"));
    ASSERT_TRUE(restore->isEnabled());
    restore->trigger();
    ASSERT_TRUE(Idle());
  }
  DocumentId IdOf(size_t place) { return window_->documents().at(place).id(); }
};

TEST_F(SessionRestore, RestoresDocumentsAfterAKillBetweenAnyCommands) {
  const QString a = Write(QStringLiteral("a.trace"), 1), b = Write(QStringLiteral("b.trace"), 2);
  const QStringList commands{QStringLiteral("edit=3"), QStringLiteral("edit=4"),
                             QStringLiteral("open=") + a, QStringLiteral("open=") + b,
                             QStringLiteral("edit=5")};
  for (int done = 2; done <= commands.size(); ++done) {
    SCOPED_TRACE(done);
    KillAfter(done, commands);
    Open();
    EXPECT_EQ(Banner("kind"), "restore");
    Restore();
    const DocumentList& documents = window_->documents();
    // The plan with its entries and the files must be restored, and any results that arrived later.
    ASSERT_GE(documents.size(), static_cast<size_t>(std::min(done, 4) - 1));
    const auto plan = [&](size_t i) { return documents.at(i).source.kind == SourceKind::kPlan; };
    ASSERT_TRUE(plan(0));
    EXPECT_GE(documents.at(0).history.entries().size(), 2u);
    EXPECT_GT(documents.at(0).history.entries()[1].peak_allocated, 0u);
    if (done >= 3) {
      EXPECT_EQ(documents.at(1).source.file, a.toStdString());
      window_->showDocument(IdOf(1));
      ASSERT_TRUE(Idle());
      EXPECT_EQ(window_->digest()->summary.steps.size(), 1u);
    }
    window_->showDocument(IdOf(0));
    ASSERT_TRUE(Idle());
    EXPECT_EQ(window_->digest()->trace->info.config.batch, window_->config().batch);
    EXPECT_GE(window_->config().batch, 4);
    // After the window was closed normally, the next one must not offer to restore anything.
    window_.reset();
    Open();
    EXPECT_EQ(Banner("kind"), "");
    window_.reset();
  }
}

TEST_F(SessionRestore, RestoresDataOfAProgramThatOutlivedTheWindow) {
  const QString script =
      Script("about()\nchunk(2)\nwait('more')\nchunk(3)\nwait('go')\nabout(ended='end')\n");
  KillAfter(1, {QStringLiteral("run=") + script});
  // Another command may run before the next window. It must not delete data that can be restored.
  ASSERT_TRUE(program::ScratchFolder::Make().ok());
  Open();
  ASSERT_EQ(Banner("kind"), "restore");
  EXPECT_THAT(Banner("text"), HasSubstr("train.py"));
  EXPECT_TRUE(StoredFiles().isEmpty());
  // A program that is started before the data are restored must not delete them, either.
  ASSERT_TRUE(program::ScratchFolder::Make().ok());
  window_->findChild<QToolButton*>(QStringLiteral("banner-action"))->click();
  ASSERT_TRUE(Idle());
  EXPECT_GE(Blocks(), 2u);
  EXPECT_EQ(window_->documents().active().Title(), "train.py");
  ASSERT_EQ(StoredFiles().size(), 1);
  EXPECT_EQ(window_->documents().active().FileOfResult(), StoredFiles().front().toStdString());
  // The program, which outlived its window, ends now. The next launcher must remove its folder.
  Touch("more");
  Touch("go");
  EXPECT_TRUE(ProgramEnded());
  window_.reset();
  EXPECT_TRUE(WaitFor([this] {
    EXPECT_TRUE(program::ScratchFolder::Make().ok());
    return QDir(folder_.filePath(QStringLiteral("tmp")))
        .entryList(QDir::AllEntries | QDir::NoDotAndDotDot)
        .isEmpty();
  }));
}

// The next window shows another file and is closed before the user has restored anything.
TEST_F(SessionRestore, ProgramDataAreOfferedUntilTheyAreRestored) {
  const QString a = Write(QStringLiteral("a.trace"), 1);
  const QString script =
      Script("about()\nchunk(2)\nwait('more')\nchunk(3)\nwait('go')\nabout(ended='end')\n");
  KillAfter(1, {QStringLiteral("run=") + script});
  Touch("more");
  Touch("go");
  EXPECT_TRUE(ProgramEnded());
  Open();
  window_->openFile(a);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "restore");
  window_.reset();
  Open();
  EXPECT_EQ(Banner("kind"), "restore");
  // A file that ends early has a warning, which must not replace the offer for good.
  QFile whole(a), part(folder_.filePath(QStringLiteral("part.trace")));
  ASSERT_TRUE(whole.open(QIODevice::ReadOnly) && part.open(QIODevice::WriteOnly));
  part.write(whole.read(whole.size() * 3 / 4));
  part.close();
  window_->openFile(part.fileName());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "incomplete-file");
  window_->findChild<QToolButton*>(QStringLiteral("banner-close"))->click();
  EXPECT_EQ(Banner("kind"), "restore");
  Restore();
  EXPECT_GE(Blocks(), 2u);
  EXPECT_EQ(StoredFiles().size(), 1);
  EXPECT_EQ(Banner("kind"), "");
  // TearDown() checks that the folder of the program was removed.
}

// The result of the restored data cannot be saved. A later window must offer them again, unless the
// user discards them.
TEST_F(SessionRestore, ProgramDataStayUntilTheirResultIsSaved) {
  const QString script = Script("about()\nchunk(2)\nwait('go')\nabout(ended='end')\n");
  KillAfter(1, {QStringLiteral("run=") + script});
  Touch("go");
  EXPECT_TRUE(ProgramEnded());
  Open();
  QFile(window_->storedResults().folder()).open(QIODevice::WriteOnly);
  Restore();
  EXPECT_EQ(Banner("kind"), "not-kept");
  const QDir temporary(folder_.filePath(QStringLiteral("tmp")));
  const auto left = [&] {
    return temporary.entryList(QDir::AllEntries | QDir::NoDotAndDotDot).size();
  };
  EXPECT_EQ(left(), 1);
  const QString saved = folder_.filePath(QStringLiteral("saved.trace"));
  window_->saveTrace(saved);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(left(), 0);
  EXPECT_EQ(window_->documents().active().FileOfResult(), saved.toStdString());
  EXPECT_TRUE(window_->close()) << "nothing is left to save";
}

TEST_F(SessionRestore, UnrestoredDocumentsSurviveFurtherKills) {
  const QString a = Write(QStringLiteral("a.trace"), 1);
  KillAfter(1, {QStringLiteral("open=") + a});
  // The next windows are killed, too, before the user has decided whether to restore.
  const QString b = Write(QStringLiteral("b.trace"), 1);
  KillAfter(1, {QStringLiteral("open=") + b});
  KillAfter(1, {QStringLiteral("edit=7")});
  Open();
  ASSERT_EQ(Banner("kind"), "restore");
  EXPECT_THAT(Banner("text"), HasSubstr("a.trace"));
  Restore();
  std::vector<std::string> files;
  for (size_t i = 0; i < window_->documents().size(); ++i)
    if (const std::string& file = window_->documents().at(i).source.file; !file.empty())
      files.push_back(file);
  EXPECT_THAT(files, ::testing::ElementsAre(a.toStdString(), b.toStdString()));
  // The new window now owns the restored documents. After it was closed normally, the next window
  // must not offer to restore them.
  window_.reset();
  Open();
  EXPECT_EQ(Banner("kind"), "");
}

TEST_F(SessionRestore, RestoresAtStartWhenTheUserChoseSo) {
  const QString a = Write(QStringLiteral("a.trace"), 1);
  Open();
  EXPECT_FALSE(window_->restoreAtStart());
  window_->openFile(a);
  ASSERT_TRUE(Idle());
  window_->actionRegistry()->Find(QStringLiteral("document.restore-always"))->trigger();
  window_.reset();
  Open();
  EXPECT_EQ(Banner("kind"), "") << "nothing is asked";
  EXPECT_TRUE(window_->restoreAtStart());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->documents().active().source.file, a.toStdString());
  EXPECT_NE(window_->digest(), nullptr);
}

TEST(SessionFileTest, KeepsUnrestoredContentUntilForgotten) {
  QTemporaryDir folder;
  {
    SessionFile file(folder.path());
    file.save([] { return QByteArray("first"); });
  }
  for (const char* next : {"second", "third"}) {
    SessionFile file(folder.path());
    file.keepLeft(file.unrestored() + file.left());
    file.save([next] { return QByteArray(next); });
  }
  SessionFile file(folder.path());
  EXPECT_EQ(file.unrestored(), "firstsecond");
  EXPECT_EQ(file.left(), "third");
  file.forgetLeft();
  EXPECT_FALSE(QDir(folder.path()).exists(QStringLiteral("session-1.json.left")));
}

TEST(SessionFileTest, EachWindowHasItsFileWithTheLastSave) {
  QTemporaryDir folder;
  {
    SessionFile first(folder.path()), second(folder.path());
    EXPECT_TRUE(first.left().isEmpty());
    for (int i = 0; i < 50; ++i) first.save([i] { return QByteArray::number(i); });
    second.save([] { return QByteArray("second"); });
  }
  SessionFile first(folder.path()), second(folder.path());
  EXPECT_EQ(first.left(), "49");
  EXPECT_EQ(second.left(), "second");
  // If the folder is not writable, all calls must do nothing.
  SessionFile nowhere(QStringLiteral("/proc/none"));
  nowhere.save([] { return QByteArray("x"); });
  nowhere.flush();
  nowhere.keepLeft("x");
  nowhere.forgetLeft();
}

}  // namespace
}  // namespace vramscope::ui
