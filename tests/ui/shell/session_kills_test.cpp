// Kills (with SIGKILL) the window, its worker or a program that it runs, at many different times.
// The next window must restore all that had arrived: documents, histories, toggles, notes, and the
// program's data.
//
// A window in a separate process (session_restore_test.h) performs a list of actions. After each
// action, it waits until its contents are on disk and prints them. $VRAMSCOPE_KILLS sets the number
// of attempts; 50 are more than CI makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QJsonDocument>
#include <QProcess>
#include <QProcessEnvironment>
#include <QThread>
#include <algorithm>
#include <cstdlib>
#include <random>

#include "profiler/trace/writer.h"
#include "tests/ui/shell/program_window.h"
#include "tests/ui/shell/recorded_trace.h"
#include "tests/ui/shell/session_restore_test.h"
#include "ui/notes/note_store.h"

namespace vramscope::ui {
namespace {

using vramscope::testing::MakeRecordedTrace;

constexpr int kSampled = 6, kMostKills = 1000;
constexpr int kLatestMs = 400;  // latest time of a kill after an action, while the next one runs

int Kills() {
  const char* value = std::getenv("VRAMSCOPE_KILLS");
  return value == nullptr ? kSampled : std::clamp(std::atoi(value), 1, kMostKills);
}

class SessionKills : public testing::ProgramWindow {
 protected:
  void SetUp() override {}
  void TearDown() override {}  // each attempt has its own folders

  QStringList Commands(const QString& a, const QString& b, const QString& script) {
    return {QStringLiteral("edit=3"),       QStringLiteral("toggle=0"),
            QStringLiteral("open=") + a,    QStringLiteral("note=of a"),
            QStringLiteral("edit=5"),       QStringLiteral("toggle=1"),
            QStringLiteral("open=") + b,    QStringLiteral("note=of b"),
            QStringLiteral("note=again b"), QStringLiteral("run=") + script,
            QStringLiteral("edit=6"),       QStringLiteral("edit=7")};
  }
};

// Compares a restored document with what was printed about it before the kill.
void ExpectRestored(const QJsonObject& printed, const Document& document, const QString& what) {
  const std::string of = what.toStdString();
  EXPECT_EQ(static_cast<int>(document.source.kind), printed["kind"].toInt()) << of;
  EXPECT_EQ(document.source.file, printed["file"].toString().toStdString()) << of;
  const QJsonArray changes = printed["changes"].toArray();
  ASSERT_GE(static_cast<qsizetype>(document.history.entries().size()), changes.size()) << of;
  for (qsizetype i = 0; i < changes.size(); ++i) {
    const HistoryEntry& entry = document.history.entries()[static_cast<size_t>(i)];
    EXPECT_EQ(entry.change, changes[i].toObject()["change"].toString().toStdString()) << of << i;
    EXPECT_EQ(static_cast<double>(entry.peak_allocated), changes[i].toObject()["peak"].toDouble());
    EXPECT_EQ(entry.notes, changes[i].toObject()["notes"].toInt()) << of << i;
  }
}

TEST_F(SessionKills, RestoresEverythingAfterKillsAtRandomTimes) {
  std::mt19937 random(3232);
  int restored = 0, programs = 0, notes = 0, workers = 0;
  for (int kill = 0; kill < Kills(); ++kill) {
    // Each attempt has folders of its own.
    const QTemporaryDir folder(QStringLiteral("/dev/shm/session-kills-XXXXXX"));
    // A plan does not start where its files are not isolated.
    const QTemporaryDir scripts(QStringLiteral("/var/tmp/session-kills-XXXXXX"));
    const QString train = scripts.filePath(QStringLiteral("train.py"));
    qputenv("VRAMSCOPE_TEST_SHARED", folder.path().toUtf8());
    const auto path = [&](const char* name) { return folder.filePath(QLatin1String(name)); };
    QDir().mkpath(path("tmp"));
    qputenv("TMPDIR", path("tmp").toUtf8());
    const auto write = [&](const char* name, int steps) {
      EXPECT_TRUE(
          trace::WriteTraceFile(*MakeRecordedTrace({.steps = steps}), path(name).toStdString(), {})
              .ok());
      return path(name);
    };
    QFile script(train);
    ASSERT_TRUE(script.open(QIODevice::WriteOnly));
    script.write(testing::kHooks);
    script.write(
        "about()\nfor i in range(200):\n  chunk(1)\n  time.sleep(0.02)\nabout(ended='end')\n");
    script.close();
    const QStringList commands = Commands(write("a.trace", 1), write("b.trace", 2), train);
    // Which process is killed first. If it is not the window, the window is killed later.
    enum Victim { kWindow, kWorker, kProgram };
    const auto victim = static_cast<Victim>(kill % 3);
    // Performs at least two actions: after one unchanged plan, there is nothing to restore.
    std::uniform_int_distribution<int> any_command(2, static_cast<int>(commands.size()));
    const int first = victim == kProgram ? 10 : any_command(random);
    const int wait_ms = std::uniform_int_distribution<int>(0, kLatestMs)(random);
    const int then = victim == kWindow ? first
                                       : std::uniform_int_distribution<int>(
                                             first, static_cast<int>(commands.size()))(random);
    SCOPED_TRACE(QStringLiteral("kill %1: %2 after %3 and %4 ms, the window after %5")
                     .arg(kill)
                     .arg(victim == kWindow   ? QStringLiteral("window")
                          : victim == kWorker ? QStringLiteral("worker")
                                              : QStringLiteral("program"))
                     .arg(first)
                     .arg(wait_ms)
                     .arg(then)
                     .toStdString());
    QProcess driver;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), folder.path());
    environment.insert(QStringLiteral("VRAMSCOPE_DRIVE_STATE"), QStringLiteral("1"));
    driver.setProcessEnvironment(environment);
    driver.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    driver.start(QCoreApplication::applicationFilePath(),
                 QStringList{QStringLiteral("--drive"), path("settings.ini")} + commands);
    QJsonObject printed;
    const auto next = [&] {
      QElapsedTimer since;
      since.start();
      while (!driver.canReadLine() && since.elapsed() < testing::kWaitMs)
        if (!driver.waitForReadyRead(100) && driver.state() == QProcess::NotRunning) return false;
      printed = QJsonDocument::fromJson(driver.readLine().mid(5)).object();
      return !printed.isEmpty();
    };
    for (int done = 1; done <= then; ++done) {
      ASSERT_TRUE(next()) << done;
      if (done != first || victim == kWindow) continue;
      QThread::msleep(static_cast<unsigned long>(wait_ms));
      // Kills either the launcher of the program or the script itself.
      QFile script_pid(path("pid"));
      const bool script_itself = kill % 2 == 0 && script_pid.open(QIODevice::ReadOnly);
      const auto pid =
          static_cast<pid_t>(victim == kWorker ? printed[QLatin1String("worker")].toInt()
                             : script_itself   ? script_pid.readAll().toInt()
                                               : printed[QLatin1String("program")].toInt());
      if (pid > 0 && ::kill(pid, SIGKILL) == 0) ++(victim == kWorker ? workers : programs);
    }
    if (victim == kWindow) QThread::msleep(static_cast<unsigned long>(wait_ms));
    ::kill(static_cast<pid_t>(driver.processId()), SIGKILL);
    ASSERT_TRUE(driver.waitForFinished());
    // If the window completed another action before the kill, its result must be restored, too.
    while (driver.canReadLine()) {
      const QJsonObject last = QJsonDocument::fromJson(driver.readLine().mid(5)).object();
      if (!last.isEmpty()) printed = last;
    }

    window_ = std::make_unique<MainWindow>(
        MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                          .vramscope = QStringLiteral(VRAMSCOPE_PROGRAM),
                          .settings_file = path("settings.ini"),
                          .savings = false});
    window_->resize(1400, 900);
    window_->show();
    const QJsonArray before = printed["documents"].toArray();
    ASSERT_FALSE(before.isEmpty());
    EXPECT_EQ(Banner("kind"), "restore");
    window_->restoreDocuments();
    ASSERT_TRUE(Idle());
    const DocumentList& documents = window_->documents();
    ASSERT_GE(static_cast<qsizetype>(documents.size()), before.size());
    for (qsizetype i = 0; i < before.size(); ++i) {
      const QJsonObject of = before[i].toObject();
      const Document& document = documents.at(static_cast<size_t>(i));
      ExpectRestored(of, document, QStringLiteral("document %1: ").arg(i));
      // It must be possible to show the document: by reading its file, by making its plan again, or
      // from the data of its program.
      window_->showDocument(document.id());
      ASSERT_TRUE(Idle());
      if (window_->digest() == nullptr) {
        ADD_FAILURE() << "document " << i << " is empty: "
                      << QJsonDocument(of).toJson(QJsonDocument::Compact).toStdString()
                      << ", state " << static_cast<int>(document.state()) << ", file \""
                      << document.FileOfResult() << "\", scratch \"" << document.scratch << "\"; "
                      << window_->dumpState()["status"].toString().toStdString() << "; "
                      << window_->dumpState()["log"].toString().right(600).toStdString();
        continue;
      }
      if (of["kind"].toInt() == static_cast<int>(SourceKind::kProgram)) {
        EXPECT_GE(Blocks(), static_cast<uint64_t>(of["blocks"].toInt())) << i;
      }
      if (of["kind"].toInt() == static_cast<int>(SourceKind::kPlan)) {
        EXPECT_EQ(window_->digest()->trace->info.config.batch, window_->config().batch) << i;
      }
      if (of["kind"].toInt() != static_cast<int>(SourceKind::kFile)) continue;
      ASSERT_TRUE(WaitFor([this] { return window_->noteStore()->ready(); }));
      QStringList texts;
      for (const Note& note : window_->noteStore()->notes())
        texts << QString::fromStdString(note.text);
      for (const QJsonValue& text : printed["notes"].toObject()[of["file"].toString()].toArray()) {
        EXPECT_TRUE(texts.contains(text.toString())) << text.toString().toStdString();
        ++notes;
      }
    }
    ++restored;
    window_.reset();
    // The program may live longer than its window, but not longer than this test.
    QFile pid(path("pid"));
    if (pid.open(QIODevice::ReadOnly)) ::kill(pid.readAll().toInt(), SIGKILL);
    EXPECT_TRUE(program::ScratchFolder::Make().ok());
  }
  RecordProperty("restored", restored);
  std::printf("%d windows restored, %d workers and %d programs killed, %d notes found again\n",
              restored, workers, programs, notes);
  EXPECT_EQ(restored, Kills());
  EXPECT_GT(workers, 0);
  EXPECT_GT(programs, 0);
}

}  // namespace
}  // namespace vramscope::ui
