// Tests that the window loses nothing: it must not replace files that are in use, and not lose
// files that are opened in a row, lines of the log, selections, or the focus.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QWheelEvent>

#include "profiler/trace/processes.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/ui/shell/recorded_trace.h"
#include "tests/ui/shell/shell_window.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/savings.h"
#include "ui/studies/study_page.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using vramscope::testing::MakeRecordedTrace;
using vramscope::testing::RecordedOptions;

class Losses : public testing::ShellWindow {
 protected:
  QString Write(const char* name, const RecordedOptions& options = {}) {
    const QString path = folder_.filePath(QLatin1String(name));
    EXPECT_TRUE(trace::WriteTraceFile(*MakeRecordedTrace(options), path.toStdString(), {}).ok());
    return path;
  }
  QString Write(const char* name, const QByteArray& bytes) {
    const QString path = folder_.filePath(QLatin1String(name));
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
    return path;
  }
  void OpenAndWait(const QString& path) {
    window_->openFile(path);
    ASSERT_TRUE(WaitFor([&] { return !window_->busy(); }));
    ASSERT_THAT(State()["title"].toString().toStdString(),
                HasSubstr(QFileInfo(path).fileName().toStdString()))
        << Banner("text").toStdString();
  }
  // The file must not be written, neither as a trace nor as JSON.
  void ExpectRefused(const QString& path) {
    for (const bool chrome : {false, true}) {
      QSignalSpy done(window_.get(), &MainWindow::fileDone);
      chrome ? window_->exportChrome(path) : window_->saveTrace(path);
      ASSERT_TRUE(WaitFor([&] { return done.size() == 1; }));
      EXPECT_FALSE(done[0][1].toBool()) << path.toStdString();
      EXPECT_EQ(Banner("kind"), "save-failed");
    }
  }
  static QByteArray BytesOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("cannot be read");
  }
};

TEST_F(Losses, SaveNeverOverwritesTheOpenedFile) {
  const QString source = Write("recorded.trace");
  const QByteArray before = BytesOf(source);
  OpenAndWait(source);
  const QString copy = folder_.filePath(QStringLiteral("recorded-2.trace"));
  EXPECT_EQ(window_->proposedName(QStringLiteral("trace")), copy);
  // Saves to the file itself: by its name, by another path and by links, as a trace and as JSON.
  const QString link = folder_.filePath(QStringLiteral("link.trace")),
                hard = folder_.filePath(QStringLiteral("hard.trace"));
  ASSERT_EQ(::symlink(qPrintable(source), qPrintable(link)), 0);
  ASSERT_EQ(::link(qPrintable(source), qPrintable(hard)), 0);
  const QString around = folder_.filePath(QStringLiteral("./x/../recorded.trace"));
  for (const QString& path : {source, link, hard, around}) {
    ExpectRefused(path);
    EXPECT_EQ(BytesOf(source), before) << path.toStdString();
  }
  // After a copy was saved, the document's source must still be the original file.
  window_->saveTrace(copy);
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(QFile::exists(copy));
  window_->saveTrace(source);
  EXPECT_EQ(Banner("kind"), "save-failed");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(BytesOf(source), before);
}

TEST_F(Losses, SaveNeverOverwritesTheBaselineFile) {
  const QString base = Write("base.trace", {.steps = 2}), now = Write("now.trace");
  window_->openFiles({base, now});
  ASSERT_TRUE(WaitFor([this] {
    return !window_->busy() && State()["title"].toString().startsWith(QLatin1String("now.trace"));
  }));
  const QByteArray before = BytesOf(base);
  window_->saveTrace(base);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "save-failed");
  EXPECT_EQ(BytesOf(base), before);
}

TEST_F(Losses, SaveNeverOverwritesAFileOfAnotherTab) {
  const QString other = Write("other.trace", {.steps = 2});
  const QByteArray before = BytesOf(other);
  const QString link = folder_.filePath(QStringLiteral("link.trace"));
  ASSERT_EQ(::symlink(qPrintable(other), qPrintable(link)), 0);
  OpenAndWait(other);
  OpenAndWait(Write("now.trace"));
  ASSERT_EQ(window_->documents().size(), 2u);
  for (const QString& path : {other, link}) {
    ExpectRefused(path);
    EXPECT_EQ(BytesOf(other), before) << path.toStdString();
  }
  // When its tab is closed, the file may be replaced.
  window_->closeDocument(window_->documents().at(0).id());
  window_->saveTrace(other);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "");
  EXPECT_NE(BytesOf(other), before);
}

// The window shows one GPU at a time. Regression test: only that GPU was saved.
TEST_F(Losses, SaveAndChromeExportContainAllDevices) {
  const std::vector<trace::ProcessTrace> parts = {
      {.name = "a", .trace = MakeRecordedTrace({.steps = 2})},
      {.name = "b", .trace = MakeRecordedTrace({.steps = 1})}};
  const QString source = folder_.filePath(QStringLiteral("two.trace"));
  ASSERT_TRUE(
      trace::WriteTraceFile(*trace::JoinProcesses(parts).value(), source.toStdString(), {}).ok());
  const auto reopen = [&](const QString& path) {
    window_->openFile(path);
    ASSERT_TRUE(WaitFor([&] {
      return !window_->busy() && State()["title"].toString().startsWith(QFileInfo(path).fileName());
    })) << Banner("text").toStdString();
  };
  reopen(source);
  ASSERT_EQ(window_->digest()->devices.size(), 2u);
  const uint64_t blocks = window_->digest()->whole->allocations.size();
  const QString copy = folder_.filePath(QStringLiteral("copy.trace")),
                json = folder_.filePath(QStringLiteral("copy.json"));
  window_->saveTrace(copy);
  window_->exportChrome(json);
  ASSERT_TRUE(Idle());
  for (const QString& path : {copy, json}) {
    reopen(path);
    EXPECT_EQ(window_->digest()->devices.size(), 2u) << path.toStdString();
    ASSERT_NE(window_->digest()->whole, nullptr) << path.toStdString();
    EXPECT_EQ(window_->digest()->whole->allocations.size(), blocks) << path.toStdString();
  }
}

TEST_F(Losses, ProposedFileNameFollowsTheDocument) {
  RunDefault();
  EXPECT_EQ(window_->proposedName(QStringLiteral("trace")), "qwen2-0.5b.trace");
  EXPECT_EQ(window_->proposedName(QStringLiteral("json")), "qwen2-0.5b.json");
  const QString packed = folder_.filePath(QStringLiteral("step 7.pickle.zst"));
  ASSERT_TRUE(QFile::copy(Write("a.trace"), packed));
  OpenAndWait(packed);  // the kind follows from the content, not from the name
  EXPECT_EQ(window_->proposedName(QStringLiteral("trace")),
            folder_.filePath(QStringLiteral("step 7.trace")));
  EXPECT_EQ(window_->proposedName(QStringLiteral("json")),
            folder_.filePath(QStringLiteral("step 7.json")));
}

TEST_F(Losses, UndoReturnsToTheRecording) {
  OpenAndWait(Write("recorded.trace"));
  const auto recording = window_->digest();
  run::RunConfig other = window_->config();
  other.batch += 1;
  window_->editConfig(other);
  ASSERT_TRUE(WaitFor([&] { return !window_->busy() && window_->digest() != recording; }));
  Trigger("edit.undo");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->digest(), recording);
  EXPECT_THAT(State()["title"].toString().toStdString(), HasSubstr("recorded.trace"));
  EXPECT_TRUE(State()["recorded"].toBool());
}

// Two files are opened together, and the first is cancelled. The second must not appear later, and
// a file that is opened later must not get a baseline.
TEST_F(Losses, CancelForgetsRemainingFilesToOpen) {
  RunDefault();
  const QString first = Write("first.trace", {.steps = 12, .layers = 900}),
                second = Write("second.trace");
  window_->openFiles({first, second});
  // At this time, the first file has been read, and its totals are being computed.
  ASSERT_TRUE(
      WaitFor([this] { return State()["status"].toString().startsWith(QLatin1String("Opened")); }));
  window_->cancelAll();
  ASSERT_TRUE(Idle());
  run::RunConfig other = window_->config();
  other.batch += 1;
  window_->runConfig(other);
  ASSERT_TRUE(Idle());
  QTest::qWait(50);
  EXPECT_FALSE(State()["baseline"].toBool());
  EXPECT_FALSE(State()["loading"].isObject());
  EXPECT_THAT(State()["title"].toString().toStdString(), Not(HasSubstr("second")));
}

TEST_F(Losses, OpensMemoryStatsAsStatistics) {
  OpenAndWait(Write("stats.json", QByteArray(R"({"allocated_bytes.all.current": 1024,
      "allocated_bytes.all.peak": 4096, "reserved_bytes.all.current": 2097152, "num_ooms": 0})")));
  EXPECT_EQ(Banner("kind"), "");
  window_->openPage(QStringLiteral("state"));
  ASSERT_TRUE(WaitFor([this] { return !window_->explainPanel()->busy(); }));
  EXPECT_EQ(window_->digest()->trace->info.statistics.size(), 4u);
  // A run.json must still be opened as the configuration of a run.
  window_->openFile(Write("run.json", QByteArray(R"({"model": "gpt2", "batch": 3})")));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().batch, 3);
}

// No process writes to the pipe, so a read of it blocks in the kernel.
TEST_F(Losses, BlockedReadDoesNotBlockOtherFiles) {
  RunDefault();
  for (const char* name : {"a.pipe", "b.pipe", "c.pipe"}) {
    const QString pipe = folder_.filePath(QLatin1String(name));
    ASSERT_EQ(::mkfifo(qPrintable(pipe), 0600), 0);
    window_->openFile(pipe);
  }
  QTest::qWait(50);
  const QString recorded = Write("recorded.trace");
  window_->openFile(recorded);
  ASSERT_TRUE(WaitFor(
      [this] { return State()["title"].toString().startsWith(QLatin1String("recorded.trace")); }));
  // A load that was cancelled must end, although its read still blocks.
  window_->openFile(folder_.filePath(QStringLiteral("a.pipe")));
  QTest::qWait(50);
  window_->cancelAll();
  ASSERT_TRUE(QTest::qWaitFor([this] { return !window_->busy(); }, 10'000));
  EXPECT_THAT(State()["title"].toString().toStdString(), HasSubstr("recorded.trace"));
  // Opens the pipes for writing and closes them, so that the blocked reads end.
  for (const char* name : {"a.pipe", "b.pipe", "c.pipe"})
    if (const int fd =
            ::open(qPrintable(folder_.filePath(QLatin1String(name))), O_RDWR | O_NONBLOCK);
        fd >= 0)
      ::close(fd);
}

// The worker prints more lines than the client keeps. Each must arrive exactly once.
TEST_F(Losses, LogContinuesAfterManyLines) {
  run::RunConfigBuilder builder(window_->config());
  ASSERT_TRUE(builder.SetModelConfig("chatter", window_->config().model_config_json).ok());
  window_->runConfig(*builder.Build());
  ASSERT_TRUE(Idle());
  const auto* log = window_->findChild<QPlainTextEdit*>(QStringLiteral("log"));
  ASSERT_TRUE(WaitFor([&] { return log->toPlainText().contains(QLatin1String("the last line")); }));
  window_->runConfig(run::RunConfigBuilder().Build().value());
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(WaitFor([&] { return log->toPlainText().contains(QLatin1String("run 2: qwen2")); }));
}

TEST_F(Losses, SortingKeepsTheSelection) {
  RunDefault();
  window_->openPage(QStringLiteral("allocations"));
  auto* table = window_->findChild<TableView*>(QStringLiteral("allocationsTable"));
  table->selectRow(3);
  const QString id = table->model()->index(3, 0).data().toString();
  const auto selected = window_->timelineWidget()->selection();
  const auto chosen = [&] {
    const QModelIndexList rows = table->selectionModel()->selectedRows();
    return rows.size() == 1 ? rows[0].siblingAtColumn(0).data().toString() : QString();
  };
  ASSERT_EQ(chosen(), id);
  for (const int column : {0, 2, 3}) {
    for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
      table->sortByColumn(column, order);
      EXPECT_EQ(chosen(), id) << column;
      EXPECT_EQ(table->currentIndex().siblingAtColumn(0).data().toString(), id);
    }
  }
  EXPECT_EQ(window_->timelineWidget()->selection(), selected);
}

TEST(TableModelTest, SortingMovesTheSelectionWithItsRow) {
  TableModel model;
  TableView view;
  view.setRowModel(&model);
  Table table{.columns = {{.title = "Name"}, {.title = "Size", .number = true}}, .rows = {}};
  for (const auto& [name, size] : {std::pair{"b", 3.0}, {"c", 1.0}, {"a", 2.0}})
    table.rows.push_back({.cells = {{.text = name}, {.text = "x", .sort = size}}});
  model.setTable(std::move(table));
  view.selectRow(0);
  const auto chosen = [&] { return view.selectionModel()->selectedRows().value(0); };
  model.sort(1, Qt::AscendingOrder);
  EXPECT_EQ(chosen().row(), 2);
  EXPECT_EQ(chosen().data().toString(), "b");
  model.sort(0, Qt::AscendingOrder);
  EXPECT_EQ(chosen().row(), 1);
  EXPECT_EQ(chosen().data().toString(), "b");
}

TEST_F(Losses, ClickOnToggleReturnsFocusToTheCanvas) {
  RunDefault();
  auto* search = window_->findChild<QLineEdit*>(QStringLiteral("technique-filter"));
  search->setFocus();
  QTest::keyClicks(search, QStringLiteral("fused"));
  Click("fused");
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(window_->timelineWidget()->hasFocus());
  // Undo must undo the toggle, not the text that was typed into the filter.
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(Idle());
  EXPECT_FALSE(Technique("fused")["on"].toBool());
  EXPECT_EQ(search->text(), "fused");
  // If the user goes through the toggles by keyboard, the focus must stay on them.
  ToggleSwitch* toggle = window_->techniquePanel()->toggle(QStringLiteral("fused"));
  toggle->setFocus();
  QTest::keyClick(toggle, Qt::Key_Space);
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(toggle->hasFocus());
}

TEST_F(Losses, ClosingThePaletteReturnsFocusToTheCanvas) {
  RunDefault();
  window_->findChild<QLineEdit*>(QStringLiteral("technique-filter"))->setFocus();
  Trigger("help.commands");
  auto* palette = window_->findChild<CommandPalette*>();
  ASSERT_NE(palette, nullptr);
  palette->close();
  ASSERT_TRUE(WaitFor([this] { return window_->timelineWidget()->hasFocus(); }));
}

TEST_F(Losses, WheelDoesNotChangeComboBoxes) {
  RunDefault();
  auto* device = window_->findChild<QComboBox*>(QStringLiteral("device"));
  const int before = device->currentIndex();
  for (const bool focused : {false, true}) {
    if (focused) device->setFocus();
    const QPointF at = device->rect().center();
    QWheelEvent wheel(at, device->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(device, &wheel);
    EXPECT_EQ(device->currentIndex(), before) << focused;
  }
  EXPECT_EQ(window_->config().device, device->itemData(before).toString().toStdString());
}

TEST_F(Losses, RejectedNumberIsExplained) {
  RunDefault();
  auto* batch = window_->findChild<QSpinBox*>(QStringLiteral("batch"));
  const int before = batch->value();
  for (const char* typed : {"0", "abc", "-3", "1000000"}) {
    window_->findChild<QAbstractButton*>(QStringLiteral("banner-close"))->click();
    EXPECT_EQ(Banner("kind"), "");
    batch->setFocus();
    batch->selectAll();
    QTest::keyClicks(batch, QLatin1String(typed));
    QTest::keyClick(batch, Qt::Key_Return);
    EXPECT_EQ(batch->value(), before) << typed;
    EXPECT_EQ(Banner("kind"), "bad-config") << typed;
    EXPECT_THAT(Banner("text").toStdString(), HasSubstr(typed));
    EXPECT_THAT(Banner("text").toStdString(), HasSubstr("65536"));
  }
  EXPECT_EQ(window_->config().batch, before);
}

TEST_F(Losses, UndoShowsAHiddenLane) {
  RunDefault();
  const auto lanes = [this] { return window_->timelineWidget()->laneSettings(); };
  const QString before = lanes();
  window_->timelineWidget()->setFocus();
  // The lane under the mouse.
  const QPoint at = window_->timelineWidget()->rect().center();
  QTest::mouseMove(window_->timelineWidget(), at);
  QTest::qWait(20);
  QTest::keyClick(window_->timelineWidget(), Qt::Key_H);
  ASSERT_NE(lanes(), before);
  EXPECT_EQ(State()["undo"].toString(), "Hide track");
  Trigger("edit.undo");
  EXPECT_EQ(lanes(), before);
  Trigger("edit.redo");
  EXPECT_NE(lanes(), before);
}

// If "Plan a run to compare" pinned a recording as baseline, no other file may get this baseline.
TEST_F(Losses, BaselineOfAComparisonIsNotKeptForOtherFiles) {
  OpenAndWait(Write("recorded.trace"));
  window_->findChild<QAbstractButton*>(QStringLiteral("recordingPlan"))->click();
  EXPECT_TRUE(State()["baseline"].toBool());
  OpenAndWait(Write("other.trace", {.steps = 2}));
  EXPECT_FALSE(State()["baseline"].toBool());
  // If the user pinned a baseline, it must stay when other files are opened.
  Trigger("run.pin");
  OpenAndWait(Write("third.trace", {.steps = 3}));
  EXPECT_TRUE(State()["baseline"].toBool());
}

TEST_F(Losses, PagesDoNotWaitForMoreAfterAFailedRun) {
  RunDefault();
  run::RunConfigBuilder builder(window_->config());
  ASSERT_TRUE(builder.SetModelConfig("crash-mid-run", window_->config().model_config_json).ok());
  window_->runConfig(*builder.Build());
  ASSERT_TRUE(WaitFor([this] { return window_->partial() && !window_->busy(); }));
  window_->openPage(QStringLiteral("reclaim"));
  ASSERT_TRUE(WaitFor([this] { return !window_->explainPanel()->busy(); }));
  EXPECT_THAT(State()["explain"].toObject()["reclaim"].toObject()["head"].toString().toStdString(),
              Not(HasSubstr("Still opening")));
}

TEST_F(Losses, SuccessfulRunClearsTheLastError) {
  RunDefault();
  window_->openFile(folder_.filePath(QStringLiteral("missing.trace")));
  ASSERT_TRUE(Idle());
  ASSERT_EQ(Banner("kind"), "open-failed");
  Click("checkpoint-layer");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "");
}

// The worker that plans savings fails three times to start. When it works, savings must arrive.
TEST_F(Losses, SavingsResumeWhenTheWorkerRecovers) {
  const QString alive = folder_.filePath(QStringLiteral("alive"));
  const QString script =
      Write("worker.sh", QStringLiteral("#!/bin/sh\n[ -e '%1' ] || exit 9\nexec '%2' \"$@\"\n")
                             .arg(alive, QStringLiteral(VRAMSCOPE_FAKE_WORKER))
                             .toUtf8());
  QFile::setPermissions(script, QFile::permissions(script) | QFileDevice::ExeOwner);
  SavingsPlanner planner(script);
  int figures = 0, given_up = 0;
  QObject::connect(&planner, &SavingsPlanner::saving, &planner,
                   [&](const QString&, const std::optional<Saving>& saving, const QString& instead,
                       const QString&) {
                     figures += saving.has_value();
                     given_up += instead == QStringLiteral("–");
                   });
  QSignalSpy finished(&planner, &SavingsPlanner::finished);
  planner.update(window_->config());
  ASSERT_TRUE(WaitFor([&] { return finished.size() == 1; }));
  EXPECT_EQ(figures, 0);
  EXPECT_GT(given_up, 0);
  QFile(alive).open(QIODevice::WriteOnly);
  planner.update(window_->config());
  EXPECT_TRUE(WaitFor([&] { return figures > 0; }));
  planner.pause();
}

}  // namespace
}  // namespace vramscope::ui
