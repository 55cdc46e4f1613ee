// Tests the pages of the real window that run a command of vramscope: what fits, the waterfall, and
// published experiments. Skipped if there is no worker. Runs under Xvfb (see CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QJsonArray>
#include <QJsonObject>
#include <QLineEdit>
#include <QShortcut>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "ui/shell/main_window.h"
#include "ui/studies/study_page.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;

constexpr int kWaitMs = 60'000;

class StudiesWindow : public ::testing::Test {
 protected:
  void SetUp() override {
    if (QStringLiteral(VRAMSCOPE_REAL_WORKER).isEmpty())
      GTEST_SKIP() << "vramscope-worker is not built (it needs LibTorch)";
    window_ = std::make_unique<MainWindow>(
        MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_REAL_WORKER),
                          .vramscope = QStringLiteral(VRAMSCOPE_PROGRAM),
                          .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                          .savings = false});
    window_->resize(1400, 900);
    window_->show();
    run::RunConfigBuilder builder;
    ASSERT_TRUE(builder.SetPreset("gpt2").ok());
    ASSERT_TRUE(builder.Set("batch", "4").ok());
    ASSERT_TRUE(builder.Set("seq", "256").ok());
    start_ = *builder.Build();
    window_->runConfig(start_);
    ASSERT_TRUE(Settled());
  }
  bool Settled() {
    return QTest::qWaitFor([&] { return window_->settled(); }, kWaitMs);
  }
  QJsonObject State(const char* page) {
    return window_->dumpState().value(QLatin1String(page)).toObject();
  }
  QTemporaryDir folder_;
  std::unique_ptr<MainWindow> window_;
  run::RunConfig start_;
};

TEST_F(StudiesWindow, FitProposalIsAppliedAndUndone) {
  window_->openPage(QStringLiteral("fit"));
  window_->findChild<QLineEdit*>(QStringLiteral("fitBudget"))->setText(QStringLiteral("3GiB"));
  window_->fitPage()->makeItFit();
  EXPECT_TRUE(window_->fitPage()->busy());
  ASSERT_TRUE(Settled());
  ASSERT_GE(State("fit").value(QLatin1String("proposals")).toInt(), 1)
      << State("fit").value(QLatin1String("says")).toString().toStdString();
  const std::string before = run::ToJson(window_->config());
  window_->fitPage()->apply(0);
  ASSERT_TRUE(Settled());
  EXPECT_NE(run::ToJson(window_->config()), before);
  EXPECT_LT(window_->digest()->summary.peak.reserved, uint64_t{3} << 30);
  window_->undo();
  ASSERT_TRUE(Settled());
  EXPECT_EQ(run::ToJson(window_->config()), before);
}

TEST_F(StudiesWindow, FitReportsAFittingRunAndMarksOutdatedResults) {
  const auto says = [&] {
    return State("fit").value(QLatin1String("says")).toString().toStdString();
  };
  window_->openPage(QStringLiteral("fit"));
  window_->fitPage()->makeItFit();
  ASSERT_TRUE(Settled());
  EXPECT_THAT(says(), HasSubstr("already fits"));
  auto* view = window_->findChild<QTableView*>(QStringLiteral("fitPageTable"));
  EXPECT_THAT(view->model()->index(0, 0).data().toString().toStdString(), HasSubstr("Unchanged"));
  window_->fitPage()->apply(0);
  ASSERT_TRUE(Settled());
  EXPECT_THAT(says(), HasSubstr("already fits"));
  run::RunConfigBuilder builder(start_);
  ASSERT_TRUE(builder.Set("batch", "2").ok());
  window_->editConfig(*builder.Build());
  ASSERT_TRUE(Settled());
  EXPECT_THAT(says(), HasSubstr("from before your last change"));
  window_->editConfig(start_);
  ASSERT_TRUE(Settled());
  EXPECT_THAT(says(), HasSubstr("already fits"));
}

TEST_F(StudiesWindow, FitRejectsInvalidBudget) {
  window_->findChild<QLineEdit*>(QStringLiteral("fitBudget"))->setText(QStringLiteral("much"));
  window_->fitPage()->makeItFit();
  ASSERT_TRUE(Settled());
  EXPECT_THAT(State("fit").value(QLatin1String("says")).toString().toStdString(),
              HasSubstr("--budget"));
}

TEST_F(StudiesWindow, WaterfallHasOneReorderableBarPerTechnique) {
  run::RunConfigBuilder builder(start_);
  ASSERT_TRUE(builder.Set("precision", "bf16").ok());
  ASSERT_TRUE(builder.Set("checkpointing.mode", "layer").ok());
  ASSERT_TRUE(builder.Set("device", "h100-sxm").ok());
  window_->editConfig(*builder.Build());
  ASSERT_TRUE(Settled());
  window_->openPage(QStringLiteral("waterfall"));
  window_->waterfallPage()->draw();
  ASSERT_TRUE(Settled());
  QJsonArray order = State("waterfall").value(QLatin1String("order")).toArray();
  ASSERT_EQ(order.size(), 2)
      << State("waterfall").value(QLatin1String("says")).toString().toStdString();
  const QString first = order[0].toString(), second = order[1].toString();
  EXPECT_THAT(window_->waterfallPage()->command().toStdString(),
              AllOf(HasSubstr("precision=bf16"), HasSubstr("batch=4"), HasSubstr("seq=256"),
                    HasSubstr("device=h100-sxm")));
  auto* view = window_->findChild<QTableView*>(QStringLiteral("waterfallPageTable"));
  const auto title = [&](int row) { return view->model()->index(row, 0).data().toString(); };
  EXPECT_THAT((std::vector<std::string>{title(1).toStdString(), title(2).toStdString()}),
              ::testing::UnorderedElementsAre("bf16 throughout", "Checkpoint every layer"));
  const QString moved = title(2);
  view->selectRow(2);
  window_->waterfallPage()->move(-1);
  ASSERT_TRUE(Settled());
  order = State("waterfall").value(QLatin1String("order")).toArray();
  ASSERT_EQ(order.size(), 2);
  EXPECT_EQ(order[0].toString(), second);
  EXPECT_EQ(order[1].toString(), first);
  // The bar must still be selected, so that pressing the key again moves it further.
  EXPECT_EQ(title(1), moved);
  EXPECT_EQ(view->currentIndex().row(), 1);
  for (QShortcut* key : window_->waterfallPage()->findChildren<QShortcut*>())
    if (key->key() == QKeySequence(Qt::ALT | Qt::Key_Down)) Q_EMIT key->activated();
  ASSERT_TRUE(Settled());
  EXPECT_EQ(title(2), moved);
  // Drags a bar to another place. The bars are: baseline, two bars, current run.
  auto* bars = window_->findChild<QWidget*>(QStringLiteral("waterfallBars"));
  QTest::mousePress(bars, Qt::LeftButton, Qt::NoModifier, QPoint(300, 57));
  QTest::mouseMove(bars, QPoint(300, 40));
  QTest::mouseRelease(bars, Qt::LeftButton, Qt::NoModifier, QPoint(300, 35));
  ASSERT_TRUE(Settled());
  EXPECT_EQ(title(1), moved);
  EXPECT_FALSE(window_->waterfallPage()->image().isNull());
}

TEST_F(StudiesWindow, ExperimentOpensAsARun) {
  window_->openPage(QStringLiteral("experiments"));
  window_->experimentsPage()->planAll();
  EXPECT_THAT(State("experiments").value(QLatin1String("says")).toString().toStdString(),
              HasSubstr("Planning 64"));
  window_->experimentsPage()->cancel();
  ASSERT_TRUE(Settled());
  const QJsonObject table = State("experiments").value(QLatin1String("table")).toObject();
  EXPECT_EQ(table.value(QLatin1String("rows")).toInt(), 64);
  auto* view = window_->findChild<QTableView*>(QStringLiteral("experimentsPageTable"));
  const auto row_of = [&](const QString& id) {
    for (int row = 0; row < view->model()->rowCount(); ++row) {
      if (view->model()->index(row, 0).data().toString() == id) return row;
    }
    return -1;
  };
  window_->experimentsPage()->open(row_of(QStringLiteral("B1-bert-file")));
  EXPECT_THAT(State("experiments").value(QLatin1String("says")).toString().toStdString(),
              HasSubstr("formula"));
  window_->experimentsPage()->open(row_of(QStringLiteral("C5-sgd")));
  ASSERT_TRUE(Settled());
  EXPECT_EQ(window_->config().model, "vit-l-16");
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
