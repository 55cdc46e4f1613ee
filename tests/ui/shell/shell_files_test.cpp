// Tests files in the window: saving, opening again, exports, dropped and damaged files, full disks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QMimeData>
#include <QSignalSpy>
#include <QUrl>

#include "tests/ui/shell/held_thread_pool.h"
#include "tests/ui/shell/shell_window.h"

namespace vramscope::ui {
namespace {

class ShellFilesTest : public testing::ShellWindow {};

TEST_F(ShellFilesTest, SavedTraceOpensWithTheSamePeak) {
  RunDefault();
  const QString path = folder_.filePath(QStringLiteral("run.trace"));
  QSignalSpy done(window_.get(), &MainWindow::fileDone);
  window_->saveTrace(path);
  ASSERT_TRUE(WaitFor([&] { return done.size() == 1; }));
  EXPECT_TRUE(done[0][1].toBool());
  const double peak = Peak();
  Click("amp-bf16");
  ASSERT_TRUE(Idle());
  EXPECT_NE(Peak(), peak);
  window_->openFile(path);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Peak(), peak);
  EXPECT_FALSE(Technique("amp-bf16")["on"].toBool());
  EXPECT_EQ(State()["recent"].toArray().size(), 1);
  EXPECT_THAT(State()["title"].toString().toStdString(), ::testing::StartsWith("run.trace"));
}

TEST_F(ShellFilesTest, ExportsChromeJson) {
  RunDefault();
  const QString path = folder_.filePath(QStringLiteral("run.json"));
  QSignalSpy done(window_.get(), &MainWindow::fileDone);
  window_->exportChrome(path);
  ASSERT_TRUE(WaitFor([&] { return done.size() == 1; }));
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_GT(QJsonDocument::fromJson(file.readAll()).object()["traceEvents"].toArray().size(), 1000);
}

TEST_F(ShellFilesTest, CancelledSaveKeepsTheOldFile) {
  RunDefault();
  for (const char* name : {"run.trace", "run.json"}) {
    const QString path = folder_.filePath(QLatin1String(name));
    QFile old(path);
    ASSERT_TRUE(old.open(QIODevice::WriteOnly));
    old.write("as it was");
    old.close();
    QSignalSpy done(window_.get(), &MainWindow::fileDone);
    {
      testing::HeldThreadPool held;
      name[4] == 't' ? window_->saveTrace(path) : window_->exportChrome(path);
      EXPECT_TRUE(window_->actionRegistry()->Find(QStringLiteral("run.cancel"))->isEnabled());
      window_->cancelAll();
    }
    ASSERT_TRUE(WaitFor([&] { return done.size() == 1; }));
    EXPECT_FALSE(done[0][1].toBool());
    ASSERT_TRUE(old.open(QIODevice::ReadOnly));
    EXPECT_EQ(old.readAll(), "as it was");
    EXPECT_EQ(Banner("kind"), "");
    EXPECT_TRUE(State()["status"].toString().startsWith(QLatin1String("Cancelled")));
    EXPECT_EQ(QDir(folder_.path()).entryList({QStringLiteral("run.*")}).size(),
              name[4] == 't' ? 1 : 2);
  }
}

TEST_F(ShellFilesTest, DroppedFileIsOpened) {
  RunDefault();
  const QString path = folder_.filePath(QStringLiteral("a.trace"));
  window_->saveTrace(path);
  ASSERT_TRUE(Idle());
  QMimeData mime;
  mime.setUrls({QUrl::fromLocalFile(path)});
  QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QObject* receiver = window_.get();  // QApplication would search for the drag before the drop
  ASSERT_TRUE(receiver->event(&drop));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(State()["title"].toString().toStdString(), ::testing::StartsWith("a.trace"));
}

TEST_F(ShellFilesTest, ReportsMissingAndForeignFiles) {
  RunDefault();
  const double peak = Peak();
  const QString missing = folder_.filePath(QStringLiteral("missing.trace"));
  window_->openFile(missing);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "open-failed");
  const QString foreign = folder_.filePath(QStringLiteral("foreign.trace"));
  QFile file(foreign);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("PK\x03\x04 something else altogether, and long enough to be read");
  file.close();
  window_->openFile(foreign);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "open-failed");
  EXPECT_THAT(Banner("title").toStdString(), ::testing::HasSubstr("foreign.trace"));
  EXPECT_EQ(Peak(), peak);
  EXPECT_EQ(State()["recent"].toArray().size(), 0);
}

TEST_F(ShellFilesTest, TruncatedFileShowsItsCompletePart) {
  run::RunConfig config = window_->config();
  config.steps = 60;  // enough for several batches
  window_->runConfig(config);
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  const QString path = folder_.filePath(QStringLiteral("whole.trace"));
  window_->saveTrace(path);
  ASSERT_TRUE(Idle());
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray bytes = file.readAll();
  QFile cut(folder_.filePath(QStringLiteral("cut.trace")));
  ASSERT_TRUE(cut.open(QIODevice::WriteOnly));
  cut.write(bytes.left(bytes.size() * 3 / 4));
  cut.close();
  window_->openFile(cut.fileName());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "incomplete-file");
  EXPECT_FALSE(State()["trace"].toObject()["complete"].toBool());
  EXPECT_GT(State()["trace"].toObject()["events"].toDouble(), 0);
}

TEST_F(ShellFilesTest, FullDiskKeepsTheOldFile) {
  if (!QFile::exists(QStringLiteral("/dev/full"))) GTEST_SKIP() << "no /dev/full here";
  RunDefault();
  QSignalSpy done(window_.get(), &MainWindow::fileDone);
  // In /proc, no file can be created, just as on a disk that is full or read-only.
  window_->saveTrace(QStringLiteral("/proc/run.trace"));
  ASSERT_TRUE(WaitFor([&] { return done.size() == 1; }));
  EXPECT_FALSE(done[0][1].toBool());
  EXPECT_EQ(Banner("kind"), "save-failed");
  // A limit of the file size stands for a full disk.
  const QString path = folder_.filePath(QStringLiteral("kept.trace"));
  QFile old(path);
  ASSERT_TRUE(old.open(QIODevice::WriteOnly));
  old.write("the old one");
  old.close();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 4096;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  window_->saveTrace(path);
  const bool ended = WaitFor([&] { return done.size() == 2; });
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(ended);
  EXPECT_FALSE(done[1][1].toBool());
  EXPECT_EQ(Banner("kind"), "save-failed");
  ASSERT_TRUE(old.open(QIODevice::ReadOnly));
  EXPECT_EQ(old.readAll(), "the old one");
}

}  // namespace
}  // namespace vramscope::ui
