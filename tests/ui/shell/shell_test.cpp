// Tests the real window: runs, techniques, settings, selection and actions. Runs under Xvfb (see
// CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableView>

#include "tests/ui/shell/shell_window.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/command_palette.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

class ShellTest : public testing::ShellWindow {};

TEST_F(ShellTest, ShowsTheDefaultRun) {
  RunDefault();
  const QJsonObject state = State();
  EXPECT_EQ(state["config"].toObject()["model"].toString(), "qwen2-0.5b");
  EXPECT_EQ(state["chips"].toObject()["backend"].toString(), "plan · modelled");
  EXPECT_THAT(state["chips"].toObject()["device"].toString().toStdString(),
              ::testing::HasSubstr("4090"));
  EXPECT_THAT(state["chips"].toObject()["peak"].toString().toStdString(),
              ::testing::StartsWith("peak "));
  EXPECT_EQ(state["tables"].toObject()["phases"].toObject()["rows"].toInt(),
            run::RunConfig().steps);
  EXPECT_GT(state["tables"].toObject()["allocations"].toObject()["rows"].toInt(), 1000);
  EXPECT_GT(state["breakdown"].toObject()["parts"].toArray().size(), 2);
  EXPECT_EQ(state["breakdown"].toObject()["heading"].toString(), "AT THE PEAK");
  EXPECT_TRUE(state["banner"].toObject().isEmpty());
}

TEST_F(ShellTest, PageOpenedBeforeARunUsesTheTheme) {
  window_->setThemeChoice(ThemeChoice::kLight);
  window_->openPage(QStringLiteral("compare"));
  RunDefault();
  Click("checkpoint-layer");
  ASSERT_TRUE(Idle());
  ASSERT_GT(ComparedRows(), 0);
  const auto* table = window_->findChild<QTableView*>(QStringLiteral("compareTable"));
  const auto text = table->model()->index(0, 0).data(Qt::ForegroundRole).value<QColor>();
  EXPECT_LT(text.lightness(), 128) << text.name().toStdString();
}

TEST_F(ShellTest, ToggleReplansAndUndoReverts) {
  RunDefault();
  const double before = Peak();
  Click("checkpoint-layer");
  ASSERT_TRUE(Idle());
  EXPECT_LT(Peak(), before);
  EXPECT_TRUE(Technique("checkpoint-layer")["on"].toBool());
  EXPECT_EQ(State()["undo"].toString(), "Checkpoint every layer on");
  EXPECT_TRUE(State()["ghost"].toBool());
  EXPECT_EQ(State()["against"].toString(), "qwen2-0.5b");
  EXPECT_GT(ComparedRows(), 0);
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Peak(), before);
  EXPECT_FALSE(Technique("checkpoint-layer")["on"].toBool());
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(Idle());
  EXPECT_LT(Peak(), before);
}

TEST_F(ShellTest, QuickTogglesEndWithTheLastState) {
  RunDefault();
  Click("checkpoint-layer");
  Click("fused");
  Click("zero-grad");
  Click("checkpoint-layer");
  ASSERT_TRUE(Idle());
  const trace::TraceInfo& info = window_->digest()->trace->info;
  EXPECT_EQ(info.config.Get("checkpointing.mode"), "none");
  EXPECT_EQ(info.config.Get("optimizer.impl"), "fused");
  EXPECT_EQ(info.config.Get("zero_grad"), "zero");
}

TEST_F(ShellTest, IncompatibleTechniqueIsDisabledWithAReason) {
  RunDefault();
  EXPECT_FALSE(Technique("flash")["enabled"].toBool());
  EXPECT_THAT(Technique("flash")["reason"].toString().toStdString(),
              ::testing::HasSubstr("16-bit"));
  Click("amp-bf16");
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(Technique("flash")["enabled"].toBool());
  Click("flash");
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(Technique("flash")["on"].toBool());
  Click("amp-bf16");  // flash attention needs 16 bits, so it is switched off, too
  ASSERT_TRUE(Idle());
  EXPECT_FALSE(Technique("flash")["on"].toBool());
}

TEST_F(ShellTest, ReplansWhenBatchOrDeviceChanges) {
  RunDefault();
  auto* batch = window_->findChild<QSpinBox*>(QStringLiteral("batch"));
  batch->setFocus();
  batch->selectAll();
  QTest::keyClicks(batch, QStringLiteral("4"));
  QTest::keyClick(batch, Qt::Key_Return);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->digest()->trace->info.config.batch, 4);
  auto* device = window_->findChild<QComboBox*>(QStringLiteral("device"));
  const int index = device->findData(QStringLiteral("rtx-3060-12gb"));
  ASSERT_GE(index, 0);
  device->setCurrentIndex(index);
  Q_EMIT device->activated(index);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->digest()->trace->info.device.key, "rtx-3060-12gb");
  EXPECT_EQ(State()["undo"].toString(), "Device rtx-3060-12gb");
}

TEST_F(ShellTest, SavingIsShownBeforeTheToggleIsClicked) {
  Open(true);
  RunDefault();
  ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
  EXPECT_LT(Technique("checkpoint-layer")["saving_bytes"].toDouble(), 0);
  EXPECT_LT(Technique("lora")["saving_bytes"].toDouble(), 0);
  const double promised = Technique("sgd")["saving_bytes"].toDouble();
  const double before = Peak();
  Click("sgd");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Peak() - before, promised);
}

// If a search shows some techniques, their savings must be planned before all others.
TEST_F(ShellTest, SavingsOfShownTechniquesAreComputedFirst) {
  Open(true);
  window_->openTechniques(QStringLiteral("group:allocator"));
  RunDefault();
  ASSERT_TRUE(
      WaitFor([this] { return Technique("expandable-segments").contains("saving_bytes"); }));
  EXPECT_FALSE(Technique("sgd").contains("saving_bytes"));
}

TEST_F(ShellTest, SelectionIsSharedByTablePanelAndTimeline) {
  RunDefault();
  window_->findChild<QTabWidget*>(QStringLiteral("tables"))->setCurrentIndex(1);
  auto* table = window_->findChild<TableView*>(QStringLiteral("allocationsTable"));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                    table->visualRect(table->model()->index(2, 1)).center());
  const auto id = window_->timelineWidget()->selection();
  ASSERT_TRUE(id.valid());
  const QJsonObject selection = State()["selection"].toObject();
  EXPECT_EQ(selection["id"].toDouble(), id.value);
  EXPECT_THAT(selection["facts"].toObject()["block"].toString().toStdString(),
              ::testing::HasSubstr(" B"));
  QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
  const QString tsv = QApplication::clipboard()->text();
  EXPECT_EQ(tsv.count(QLatin1Char('\n')), 2);
  EXPECT_TRUE(tsv.startsWith(QStringLiteral("ID\tModule\tOp\t"))) << tsv.toStdString();
  Trigger("edit.clear-selection");
  EXPECT_FALSE(window_->timelineWidget()->selection().valid());
}

TEST_F(ShellTest, FiltersAllocationsIgnoringCase) {
  RunDefault();
  const auto rows = [this] {
    return State()["tables"].toObject()["allocations"].toObject()["rows"].toInt();
  };
  const int all = rows();
  window_->findChild<QLineEdit*>(QStringLiteral("allocationFilter"))
      ->setText(QStringLiteral("LAYERS.3.mlp"));
  EXPECT_LT(rows(), all);
  EXPECT_GT(rows(), 0);
}

TEST_F(ShellTest, BreakdownFollowsTheCursor) {
  RunDefault();
  window_->timelineWidget()->setCursorTime(window_->digest()->trace->begin_ns() + 1000);
  Q_EMIT window_->timelineWidget()->cursorMoved(window_->digest()->trace->begin_ns() + 1000);
  EXPECT_EQ(State()["breakdown"].toObject()["heading"].toString(), "AT THE CURSOR");
  Q_EMIT window_->timelineWidget()->cursorMoved(-1);
  EXPECT_EQ(State()["breakdown"].toObject()["heading"].toString(), "AT THE PEAK");
}

TEST_F(ShellTest, PinnedBaselineStaysAfterToggles) {
  RunDefault();
  Trigger("run.pin");
  Click("checkpoint-layer");
  ASSERT_TRUE(Idle());
  Click("fused");
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(State()["baseline"].toBool());
  EXPECT_EQ(State()["against"].toString(), "qwen2-0.5b");
  EXPECT_GT(ComparedRows(), 0);
  Trigger("run.unpin");
  EXPECT_FALSE(State()["baseline"].toBool());
}

TEST_F(ShellTest, ChosenThemeIsRemembered) {
  RunDefault();
  const QImage dark = window_->grab().toImage();
  Trigger("view.theme.light");
  EXPECT_EQ(State()["theme"].toString(), "light");
  const QImage light = window_->grab().toImage();
  EXPECT_GT(light.pixelColor(5, 5).lightness(), dark.pixelColor(5, 5).lightness() + 100);
  window_->close();
  window_ = std::make_unique<MainWindow>(
      MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                        .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                        .savings = false});
  EXPECT_EQ(State()["theme_choice"].toString(), "light");
}

TEST_F(ShellTest, PaletteListsActionsAndRunsThem) {
  RunDefault();
  std::vector<std::string> ids;
  for (const auto& entry : window_->actionRegistry()->entries())
    ids.push_back(entry.spec.id.toStdString());
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end()) << "two actions of one id";
  auto* palette = new CommandPalette(*window_->actionRegistry(), window_.get());
  palette->show();
  EXPECT_GE(palette->shown(), 30);
  auto* input = palette->findChild<QLineEdit*>();
  QTest::keyClicks(input, QStringLiteral("fused step"));
  QTest::keyClick(input, Qt::Key_Return);
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(Technique("fused")["on"].toBool());
}

TEST_F(ShellTest, ShortcutsAreUnique) {
  QStringList seen;
  for (const auto& entry : window_->actionRegistry()->entries())
    for (const QKeySequence& key : entry.spec.shortcuts) {
      EXPECT_FALSE(seen.contains(key.toString())) << key.toString().toStdString();
      seen << key.toString();
    }
}

TEST_F(ShellTest, ZoomsInAndFitsTheView) {
  RunDefault();
  const auto viewport = [this] {
    window_->timelineWidget()->settle();
    return State()["timeline"].toObject()["viewport"].toObject();
  };
  const QJsonObject before = viewport();
  EXPECT_TRUE(before["all"].toBool());
  const auto width = [](const QJsonObject& view) {
    return view["end_ns"].toDouble() - view["begin_ns"].toDouble();
  };
  Trigger("view.zoom-in");
  const QJsonObject zoomed = viewport();
  EXPECT_FALSE(zoomed["all"].toBool());
  EXPECT_LT(width(zoomed), width(before));
  EXPECT_EQ(zoomed["extent_end_ns"].toDouble(), before["extent_end_ns"].toDouble());
  Trigger("view.fit");
  EXPECT_EQ(viewport(), before);
}

}  // namespace
}  // namespace vramscope::ui
