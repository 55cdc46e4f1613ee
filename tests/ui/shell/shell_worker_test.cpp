// Tests the window with a worker that is killed, refuses requests, gets impossible requests, or is
// missing. Also tests it with the real worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <QFile>
#include <QToolButton>

#include "tests/ui/shell/shell_window.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

run::RunConfig Named(const char* model) {
  run::RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetModelConfig(model, R"({"model_type": "qwen2"})").ok());
  return builder.Build().value();
}

class ShellWorkerTest : public testing::ShellWindow {};

TEST_F(ShellWorkerTest, WorkerKilledDuringARunIsReplaced) {
  RunDefault();
  const double peak = Peak();
  run::RunConfig slow = Named("slow");
  slow.steps = 200;
  window_->runConfig(slow);
  ASSERT_TRUE(WaitFor([this] { return window_->worker()->busy(); }));
  QTest::qWait(500);
  const qint64 pid = window_->worker()->processId();
  ASSERT_GT(pid, 0);
  kill(static_cast<pid_t>(pid), SIGKILL);
  ASSERT_TRUE(WaitFor([this] { return Banner("kind") == "worker-lost"; }));
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("kill"));
  ASSERT_TRUE(Idle());
  // The part that had arrived must be kept: two or three of 200 steps.
  EXPECT_TRUE(State()["partial"].toBool());
  EXPECT_FALSE(State()["trace"].toObject()["complete"].toBool());
  ASSERT_TRUE(WaitFor([this] { return window_->worker()->running(); }));
  EXPECT_NE(window_->worker()->processId(), pid);
  window_->runConfig(run::RunConfigBuilder().Build().value());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Peak(), peak);
  EXPECT_TRUE(State()["banner"].toObject().isEmpty());
}

TEST_F(ShellWorkerTest, FailedRunNamesTheSettingAndCanBeUndone) {
  RunDefault();
  window_->editConfig(Named("fail"));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Banner("kind"), "run-failed");
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("hidden_size"));
  auto* undo = window_->findChild<QToolButton*>(QStringLiteral("banner-action"));
  QTest::mouseClick(undo, Qt::LeftButton);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().model, "qwen2-0.5b");
  EXPECT_TRUE(State()["banner"].toObject().isEmpty());
}

TEST_F(ShellWorkerTest, InvalidConfigurationIsRejected) {
  RunDefault();
  run::RunConfig config = window_->config();
  config.batch = -3;
  window_->editConfig(config);
  EXPECT_EQ(Banner("kind"), "bad-config");
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("batch"));
  EXPECT_EQ(window_->config().batch, 2);
  QFile bad(folder_.filePath(QStringLiteral("config.json")));
  ASSERT_TRUE(bad.open(QIODevice::WriteOnly));
  bad.write("this is not JSON");
  bad.close();
  window_->openModelConfig(bad.fileName());
  EXPECT_EQ(Banner("kind"), "bad-config");
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("not JSON"));
}

TEST_F(ShellWorkerTest, JsonWithoutAModelIsRejected) {
  RunDefault();
  const std::string model = window_->config().model;
  QFile other(folder_.filePath(QStringLiteral("package.json")));
  ASSERT_TRUE(other.open(QIODevice::WriteOnly));
  other.write(R"({"name": "other"})");
  other.close();
  window_->openFile(other.fileName());
  EXPECT_EQ(Banner("kind"), "bad-config");
  EXPECT_THAT(Banner("title").toStdString(), ::testing::HasSubstr("package.json"));
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("not a recording"));
  EXPECT_EQ(window_->config().model, model);
}

TEST_F(ShellWorkerTest, ReportsHowMuchMemoryIsMissing) {
  run::RunConfig config = window_->config();
  config.batch = 16;
  config.device = "rtx-3060-12gb";
  window_->runConfig(config);
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  EXPECT_EQ(Banner("kind"), "does-not-fit");
  EXPECT_THAT(Banner("title").toStdString(), ::testing::HasSubstr("GiB more than available"));
  // Reserved and allocated bytes have their peaks at different times, so both are stated.
  EXPECT_THAT(Banner("text").toStdString(),
              ::testing::AllOf(::testing::HasSubstr("reserves up to"),
                               ::testing::HasSubstr("Allocated memory peaks in phase")));
  EXPECT_THAT(State()["chips"].toObject()["fits"].toString().toStdString(),
              ::testing::HasSubstr("too much"));
}

TEST_F(ShellWorkerTest, ReportsMissingWorker) {
  window_ = std::make_unique<MainWindow>(
      MainWindowOptions{.worker_program = QString(),
                        .settings_file = folder_.filePath(QStringLiteral("other.ini")),
                        .savings = false});
  window_->show();
  window_->runConfig(window_->config());
  ASSERT_TRUE(WaitFor([this] { return Banner("kind") == "worker-lost"; }));
  EXPECT_THAT(Banner("text").toStdString(), ::testing::HasSubstr("VRAMSCOPE_WORKER"));
  ASSERT_TRUE(Idle());
}

// Shows a plan that the real worker makes.
TEST_F(ShellWorkerTest, RealWorkerPlansAndCanvasIsDrawnBeforePanels) {
  const QString built = QStringLiteral(VRAMSCOPE_REAL_WORKER);
  const QString worker = built.isEmpty() ? qEnvironmentVariable("VRAMSCOPE_WORKER") : built;
  if (worker.isEmpty() || !QFile::exists(worker))
    GTEST_SKIP() << "vramscope-worker is not built (LibTorch is off)";
  window_ = std::make_unique<MainWindow>(
      MainWindowOptions{.worker_program = worker,
                        .settings_file = folder_.filePath(QStringLiteral("real.ini")),
                        .savings = false});
  window_->show();
  RunDefault();
  EXPECT_EQ(window_->digest()->trace->info.model.parameter_count, 494032768u);
  const double before = Peak();
  // The canvas must be drawn before the panels are filled.
  const auto frames = [&] {
    return window_->timelineWidget()->dumpState()["frames"].toObject()["all"].toInt();
  };
  int at_data = 0, at_shown = 0;
  QObject::connect(window_->timelineWidget(), &timeline::TimelineWidget::dataShown,
                   [&] { at_data = frames(); });
  QObject::connect(window_.get(), &MainWindow::timelineShown, [&] { at_shown = frames(); });
  Click("checkpoint-layer");
  ASSERT_TRUE(Idle());
  EXPECT_LT(Peak(), before);
  EXPECT_GT(at_shown, at_data);
  EXPECT_TRUE(State()["banner"].toObject().isEmpty());
}

}  // namespace
}  // namespace vramscope::ui
