// Tests what users meet in the first minutes: baselines, runs that did not finish, the command
// palette, the keys, and whether texts have enough space. Runs under Xvfb (CMakeLists.txt).
#include <gmock/gmock.h>
#include <signal.h>

#include <QComboBox>
#include <QDockWidget>
#include <QJsonArray>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QToolButton>
#include <algorithm>

#include "profiler/estimate/weights.h"
#include "profiler/run/toggles.h"
#include "tests/ui/shell/recorded_window.h"
#include "ui/language/language.h"
#include "ui/panels/run_panel.h"
#include "ui/panels/technique_panel.h"
#include "ui/panels/techniques.h"
#include "ui/panels/toggle_switch.h"
#include "ui/shell/command_palette.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

run::RunConfig Named(const char* model) {
  run::RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetModelConfig(model, R"({"model_type": "qwen2"})").ok());
  return builder.Build().value();
}

run::RunConfig Preset(const char* name) {
  run::RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetPreset(name).ok());
  return builder.Build().value();
}

class FirstUseTest : public testing::RecordedWindow {
 protected:
  void Run(const run::RunConfig& config) {
    window_->runConfig(config);
    ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  }
  void RunDefault() { Run(window_->config()); }
  QJsonObject Timeline() {
    window_->settleCanvas();
    window_->grab();
    return State()["timeline"].toObject();
  }
  double Axis() { return Timeline()["memory_axis"].toObject()["max"].toDouble(); }
  QJsonObject Baseline() { return Timeline()["ghost"].toObject(); }
  double Peak() { return State()["trace"].toObject()["peak_allocated"].toDouble(); }
  QJsonObject Technique(const char* id) {
    for (const QJsonValue& row : State()["techniques"].toArray())
      if (row.toObject()["id"].toString() == QLatin1String(id)) return row.toObject();
    return {};
  }
  void Choose(const char* box, const QString& text) {
    auto* combo = Find<QComboBox>(box);
    const int at = std::max(combo->findText(text), combo->findData(text));
    ASSERT_GE(at, 0) << text.toStdString();
    combo->setCurrentIndex(at);
    Q_EMIT combo->activated(at);
    ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  }
  void SaveImage(const char* name) {
    window_->settleCanvas();
    QCoreApplication::processEvents();
    if (const QString folder = qEnvironmentVariable("VRAMSCOPE_PICTURES"); !folder.isEmpty())
      window_->grab().save(folder + QLatin1Char('/') + QLatin1String(name));
  }
};

TEST_F(FirstUseTest, RecordingHasNoBaselineFromAnUnrelatedPlan) {
  OpenRecorded();
  const double alone = Axis();
  Open({});
  RunDefault();
  ASSERT_GT(Axis(), 4 * alone);
  OpenRecorded();
  EXPECT_FALSE(State()["ghost"].toBool());
  EXPECT_FALSE(Baseline()["shown"].toBool());
  EXPECT_EQ(Axis(), alone);
  EXPECT_EQ(State()["against"].toString(), "");
}

TEST_F(FirstUseTest, UnrelatedRecordingIsNotTheBaseline) {
  OpenRecorded();
  window_->openFile(Write("other.trace", *testing::MakeRecordedTrace({.layers = 2})));
  ASSERT_TRUE(WaitFor([this] { return window_->digest()->name == "other.trace"; }));
  EXPECT_FALSE(State()["ghost"].toBool());
}

TEST_F(FirstUseTest, PreviousRunIsBaselineForSameModelAndBatch) {
  RunDefault();
  QTest::mouseClick(window_->techniquePanel()->toggle(QStringLiteral("checkpoint-layer")),
                    Qt::LeftButton);
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(State()["ghost"].toBool());
  EXPECT_EQ(Baseline()["label"].toString(), "previous run");
  Find<QSpinBox>("batch")->setValue(4);
  ASSERT_TRUE(Idle());
  EXPECT_FALSE(State()["ghost"].toBool());
  const double own = Axis();
  EXPECT_LT(own, 3 * Peak());
  Run(Preset("gpt2"));
  EXPECT_FALSE(State()["ghost"].toBool());
  EXPECT_FALSE(Baseline()["shown"].toBool());
}

TEST_F(FirstUseTest, PinnedBaselineOfAnotherModelIsLabelled) {
  RunDefault();
  const double peak = Peak();
  window_->actionRegistry()->Find(QStringLiteral("run.pin"))->trigger();
  OpenRecorded();
  EXPECT_TRUE(State()["ghost"].toBool());
  EXPECT_EQ(Baseline()["label"].toString(), "baseline qwen2-0.5b");
  EXPECT_GE(Axis(), peak);
  window_->actionRegistry()->Find(QStringLiteral("run.unpin"))->trigger();
  EXPECT_FALSE(State()["ghost"].toBool());
  EXPECT_LT(Axis(), peak / 4);
}

TEST_F(FirstUseTest, EqualTracesShowNoDifference) {
  OpenRecorded();
  window_->compareWith(Write("same.trace", *testing::MakeRecordedTrace()));
  ASSERT_TRUE(WaitFor([this] { return State()["baseline"].toBool(); }));
  const QJsonObject difference = Baseline()["difference"].toObject();
  EXPECT_EQ(difference["highest"].toDouble(-1), 0);
  EXPECT_EQ(difference["lowest"].toDouble(-1), 0);
}

TEST_F(FirstUseTest, KilledRunShowsNeitherFitNorSavings) {
  window_ = std::make_unique<MainWindow>(
      MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                        .settings_file = folder_.filePath(QStringLiteral("killed.ini"))});
  window_->resize(1400, 900);
  window_->show();
  RunDefault();
  ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
  EXPECT_THAT(Chip("fits").toStdString(), HasSubstr("fits"));
  EXPECT_EQ(Chip("unfinished"), "");
  ASSERT_TRUE(Technique("sgd").contains(QStringLiteral("saving_bytes")));
  run::RunConfig slow = Named("slow");
  slow.steps = 200;
  window_->runConfig(slow);
  EXPECT_FALSE(Technique("sgd").contains(QStringLiteral("saving_bytes")))
      << "the savings were those of another model";
  ASSERT_TRUE(WaitFor([this] { return window_->worker()->busy(); }));
  QTest::qWait(500);
  kill(static_cast<pid_t>(window_->worker()->processId()), SIGKILL);
  ASSERT_TRUE(WaitFor([this] { return Banner("kind") == "worker-lost"; }));
  ASSERT_TRUE(Idle());
  SaveImage("killed.png");
  ASSERT_FALSE(State()["trace"].toObject()["complete"].toBool());
  EXPECT_EQ(Chip("unfinished"), "did not finish");
  EXPECT_EQ(Chip("fits"), "");
  EXPECT_THAT(Chip("peak").toStdString(), HasSubstr("so far"));
  EXPECT_FALSE(Technique("sgd").contains(QStringLiteral("saving_bytes")));
  EXPECT_THAT(Technique("sgd")["saving_why"].toString().toStdString(), HasSubstr("did not finish"));
}

TEST_F(FirstUseTest, UnfinishedFileDoesNotShowTheSavingsOfAnotherModel) {
  window_ = std::make_unique<MainWindow>(
      MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                        .settings_file = folder_.filePath(QStringLiteral("savings.ini"))});
  window_->resize(1400, 900);
  window_->show();
  RunDefault();
  ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
  ASSERT_TRUE(Technique("sgd").contains(QStringLiteral("saving_bytes")));
  auto cut = std::make_shared<trace::Trace>(*testing::MakeRecordedTrace({}));
  cut->info.has_config = true;
  cut->info.config = Named("other");
  cut->complete = false;
  window_->openFile(Write("cut.trace", *cut));
  ASSERT_TRUE(
      WaitFor([this] { return window_->digest()->name == "cut.trace" && !window_->busy(); }));
  ASSERT_FALSE(State()["trace"].toObject()["complete"].toBool());
  EXPECT_FALSE(Technique("sgd").contains(QStringLiteral("saving_bytes")));
  EXPECT_THAT(Technique("sgd")["saving_why"].toString().toStdString(), HasSubstr("Ctrl+R"));
  // When the other document is shown again, its savings must be shown again.
  window_->actionRegistry()->Find(QStringLiteral("document.1"))->trigger();
  EXPECT_TRUE(
      WaitFor([this] { return Technique("sgd").contains(QStringLiteral("saving_bytes")); }));
}

TEST_F(FirstUseTest, PlanShowsErrorMarginOnlyWhereMeasured) {
  RunDefault();
  EXPECT_FALSE(Chip("reserved").contains(QStringLiteral("±")));
  EXPECT_THAT(Chip("reserved_tip").toStdString(), HasSubstr("not compared with a recording"));
  Run(Preset("basics-medium"));
  EXPECT_TRUE(Chip("reserved").endsWith(QStringLiteral("±0.04")));
  EXPECT_THAT(Chip("reserved_tip").toStdString(), HasSubstr("recorded on a GPU"));
  run::RunConfig changed = Preset("basics-medium");
  changed.batch = 6;
  Run(changed);
  EXPECT_FALSE(Chip("reserved").contains(QStringLiteral("±")));
}

TEST_F(FirstUseTest, CommandPaletteRanksBestMatchFirst) {
  RunDefault();
  const auto find = [this](const char* typed) {
    CommandPalette palette(*window_->actionRegistry(), window_.get());
    palette.setAttribute(Qt::WA_DeleteOnClose, false);
    palette.findChild<QLineEdit*>()->setText(QLatin1String(typed));
    return palette.ids();
  };
  EXPECT_EQ(find("fit").value(0), "view.fit");
  EXPECT_FALSE(find("fit").contains(QStringLiteral("file.quit")));
  EXPECT_EQ(find("quit").value(0), "file.quit");
  EXPECT_FALSE(find("qt").contains(QStringLiteral("file.quit")));
  EXPECT_EQ(find("lora").value(0), "technique.lora");
  EXPECT_EQ(find("dark").value(0), "view.theme.dark");
  EXPECT_EQ(find("view light").value(0), "view.theme.light");
  EXPECT_EQ(find("peak").value(0), "go.peak");
  // Each language is named in the language itself, but must also be found by its other name.
  if (Languages().contains(Language::kChinese)) {
    EXPECT_EQ(find("chinese").value(0), "view.language.zh_CN");
  }
  EXPECT_EQ(find("english").value(0), "view.language.en");
  EXPECT_TRUE(find("zmin").contains(QStringLiteral("view.zoom-in"))) << "scattered letters";
  // Commands that are not possible now must come last, such as run.unpin, which needs a baseline.
  EXPECT_NE(find("baseline").value(0), "run.unpin");
  // Every command must have a row, except places for recent files that are not used yet.
  for (const QString& id : find("")) EXPECT_FALSE(id.startsWith(QLatin1String("file.recent")));
  EXPECT_TRUE(find("qqqq").isEmpty());
  auto* palette = new CommandPalette(*window_->actionRegistry(), window_.get());
  palette->show();
  auto* input = palette->findChild<QLineEdit*>();
  input->setText(QStringLiteral("qqqq"));
  EXPECT_EQ(palette->shown(), 0);
  const auto* list = palette->findChild<QListWidget*>();
  ASSERT_EQ(list->count(), 1) << "an empty list is explained";
  EXPECT_EQ(list->item(0)->text(), "No command matches.");
  QTest::keyClick(input, Qt::Key_Return);
  EXPECT_TRUE(palette->isVisible());
  input->clear();
  QTest::keyClicks(input, QStringLiteral("fit"));
  if (const QString folder = qEnvironmentVariable("VRAMSCOPE_PICTURES"); !folder.isEmpty())
    palette->grab().save(folder + QStringLiteral("/palette-fit.png"));
  QTest::keyClick(input, Qt::Key_Return);
  EXPECT_TRUE(window_->isVisible());
}

TEST_F(FirstUseTest, LongFileNameDoesNotWidenTheWindow) {
  window_->resize(1024, 700);
  const std::string name = std::string(180, 'x') + "-and-the-end.trace";
  window_->openFile(Write(name.c_str(), *testing::MakeRecordedTrace()));
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  window_->openFile(folder_.filePath(QString(200, QLatin1Char('y'))));
  ASSERT_TRUE(WaitFor([this] { return Banner("kind") == "open-failed"; }));
  SaveImage("long-name.png");
  for (const QString& page : window_->pageNames()) {
    window_->openPage(page);
    QCoreApplication::processEvents();
    EXPECT_LE(window_->minimumSizeHint().width(), 1024) << page.toStdString();
    EXPECT_EQ(window_->width(), 1024) << page.toStdString();
  }
  // The menus must not be too wide, either.
  for (const QMenu* menu : window_->findChildren<QMenu*>())
    EXPECT_LT(menu->sizeHint().width(), 700) << menu->title().toStdString();
}

TEST_F(FirstUseTest, PlanFromRecordingAsksForUnknownModel) {
  OpenRecorded();
  const auto recording = window_->digest();
  QTest::mouseClick(Find<QPushButton>("recordingPlan"), Qt::LeftButton);
  EXPECT_FALSE(window_->worker()->busy()) << "nothing is planned that was not chosen";
  EXPECT_FALSE(State()["recorded"].toBool());
  EXPECT_EQ(Banner("kind"), "choose-model");
  // The recording must have its own tab, and the plan must be compared with it.
  EXPECT_EQ(window_->documents().at(0).session.shown(), recording);
  EXPECT_TRUE(State()["baseline"].toBool());
  Find<QToolButton>("banner-action")->click();
  EXPECT_TRUE(State()["recorded"].toBool());
  EXPECT_EQ(window_->digest(), recording);
}

TEST_F(FirstUseTest, PlanFromRecordingRecognizesModelBySize) {
  const run::RunConfig gpt2 = Preset("gpt2");
  const uint64_t weights = estimate::CountWeights(gpt2.model_config_json)->total() * 4;
  OpenRecorded({.weight_bytes = weights + 100});
  QTest::mouseClick(Find<QPushButton>("recordingPlan"), Qt::LeftButton);
  EXPECT_EQ(window_->config().model, "gpt2");
  EXPECT_EQ(window_->config().Get("precision"), "fp32");
  EXPECT_EQ(Banner("kind"), "recorded-model");
  EXPECT_THAT(Banner("text").toStdString(), AllOf(HasSubstr("gpt2"), HasSubstr("batch")));
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_TRUE(State()["baseline"].toBool());
  EXPECT_EQ(State()["against"].toString(), "recorded.trace");
}

TEST_F(FirstUseTest, CanvasKeysWorkWithoutAClick) {
  RunDefault();
  const auto width = [this] {
    const QJsonObject view = Timeline()["viewport"].toObject();
    return view["end_ns"].toDouble() - view["begin_ns"].toDouble();
  };
  for (int i = 0; i < 2; ++i) {
    const double all = width();
    ASSERT_GT(all, 0);
    ASSERT_NE(QApplication::focusWidget(), nullptr);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_W);
    EXPECT_LT(width(), all);
    const QJsonObject before = Timeline()["viewport"].toObject();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right);
    EXPECT_NE(Timeline()["viewport"].toObject(), before);
    // Now opens the palette while the focus is in a table.
    Find<QTabWidget>("tables")->setFocus();
    OpenRecorded();
  }
}

TEST_F(FirstUseTest, SwitchingPagesDoesNotMoveTheLayout) {
  OpenRecorded();
  for (const QSize size : {QSize(1400, 900), QSize(1024, 700)}) {
    window_->resize(size);
    QCoreApplication::processEvents();
    const QRect dock = Find<QDockWidget>("tablesDock")->geometry();
    const QRect canvas = window_->timelineWidget()->geometry();
    for (const QString& page : window_->pageNames()) {
      window_->openPage(page);
      QCoreApplication::processEvents();
      EXPECT_EQ(Find<QDockWidget>("tablesDock")->geometry(), dock) << page.toStdString();
      EXPECT_EQ(window_->timelineWidget()->geometry(), canvas) << page.toStdString();
    }
  }
}

TEST_F(FirstUseTest, LoraIsDisabledWithoutLinearLayers) {
  RunDefault();
  EXPECT_TRUE(Technique("lora")["enabled"].toBool());
  Run(Preset("basics-medium"));
  EXPECT_FALSE(Technique("lora")["enabled"].toBool());
  EXPECT_THAT(Technique("lora")["reason"].toString().toStdString(),
              AllOf(HasSubstr("no linear layer"), HasSubstr("basics-medium")));
  SaveImage("lora-off.png");
  // Another preset must keep LoRA if its model has linear layers, and must switch it off if not.
  const run::RunConfig lora = run::SwitchedOn(*run::FindToggle("lora"), Preset("qwen2-0.5b"));
  const auto change = WithPreset(lora, "basics-medium");
  ASSERT_TRUE(change.ok());
  EXPECT_FALSE(change->config.Integer("lora.rank") > 0);
  const auto gpt2 = WithPreset(lora, "gpt2");
  ASSERT_TRUE(gpt2.ok());
  EXPECT_THAT(gpt2->config.Names("lora.targets"), ::testing::ElementsAre("c_attn"));
}

TEST_F(FirstUseTest, TemporaryThemeIsNotSaved) {
  window_->setThemeChoice(ThemeChoice::kDark);
  window_->setThemeChoice(ThemeChoice::kLight, false);
  EXPECT_EQ(State()["theme"].toString(), "light");
  window_->close();
  window_ = std::make_unique<MainWindow>(
      MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                        .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                        .savings = false});
  EXPECT_EQ(State()["theme_choice"].toString(), "dark");
}

TEST_F(FirstUseTest, SmallWindowShowsPhasesMemoryAndBlocks) {
  for (const bool banner : {false, true}) {
    Open({});
    window_->resize(1024, 700);
    if (banner) {
      run::RunConfig large = window_->config();
      large.batch = 16;
      large.device = "rtx-3060-12gb";
      Run(large);
      EXPECT_EQ(Banner("kind"), "does-not-fit");
    } else {
      RunDefault();
    }
    // After one or two turns of the event loop, the banner knows its width and wraps its lines.
    QStringList shown;
    const auto there = [&] {
      shown.clear();
      for (const QJsonValue& lane : Timeline()["lanes"].toArray())
        shown << lane.toObject()["lane"].toString();
      return shown.contains(QLatin1String("phases")) && shown.contains(QLatin1String("memory")) &&
             shown.contains(QLatin1String("blocks"));
    };
    EXPECT_TRUE(QTest::qWaitFor(there, 5000)) << shown.join(' ').toStdString();
    EXPECT_EQ(window_->size(), QSize(1024, 700));
    if (!banner) {
      // Regression test: in a low window, tables with two rows took up much of the height.
      window_->actionRegistry()->Find(QStringLiteral("view.reset-layout"))->trigger();
      QTest::qWait(50);
      EXPECT_LE(Find<QDockWidget>("tablesDock")->height(), 190);
      EXPECT_TRUE(QTest::qWaitFor(there, 5000));
    }
    SaveImage(banner ? "small-banner.png" : "small.png");
  }
}

TEST_F(FirstUseTest, ModelsHaveSizesAndTestModelsAreHidden) {
  const auto* models = Find<QComboBox>("model");
  const auto title = [&models](const char* name) {
    const int at = models->findData(QLatin1String(name));
    return at < 0 ? std::string("(none)") : models->itemText(at).toStdString();
  };
  EXPECT_EQ(title("gpt2"), "gpt2 · 124 M");
  EXPECT_EQ(title("gemma-2-2b"), "gemma-2-2b · 2.61 B");
  EXPECT_EQ(title("handmade-transformer-512"), "(none)");
  EXPECT_EQ(title("nn-transformer-512"), "(none)");
  EXPECT_EQ(models->currentData().toString().toStdString(), window_->config().model);
  for (int i = 0; i < models->count(); ++i)
    if (models->itemData(i).isValid()) {
      EXPECT_THAT(models->itemText(i).toStdString(), HasSubstr(" · "));
    }
  // Models for tests must only be listed if they are in use, or if all are requested.
  run::RunConfigBuilder builder;
  ASSERT_TRUE(builder.SetPreset("nn-transformer-512").ok());
  RunPanel panel;
  panel.setConfig(builder.Build().value());
  models = panel.findChild<QComboBox*>(QStringLiteral("model"));
  EXPECT_NE(title("nn-transformer-512"), "(none)");
  EXPECT_EQ(title("handmade-transformer-512"), "(none)");
  qputenv("VRAMSCOPE_TEST_MODELS", "1");
  panel.setConfig(builder.Build().value());
  qunsetenv("VRAMSCOPE_TEST_MODELS");
  EXPECT_NE(title("handmade-transformer-512"), "(none)");
}

TEST_F(FirstUseTest, PresetKeepsSettingsOfTheUser) {
  RunDefault();
  Find<QSpinBox>("batch")->setValue(6);
  ASSERT_TRUE(Idle());
  Choose("model", QStringLiteral("basics-medium"));
  EXPECT_EQ(window_->config().model, "basics-medium");
  EXPECT_EQ(window_->config().batch, 6);
  EXPECT_EQ(window_->config().seq, 128);
  EXPECT_EQ(window_->config().Get("optimizer.impl"), "loop");
  EXPECT_EQ(Banner("kind"), "preset-settings");
  EXPECT_THAT(Banner("text").toStdString(),
              AllOf(HasSubstr("sequence 128"), HasSubstr("optimizer AdamW, loop"),
                    HasSubstr("settings are kept: batch 6")));
  Find<QToolButton>("banner-action")->click();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->config().model, "qwen2-0.5b");
  EXPECT_EQ(window_->config().seq, 512);
  // After choosing another preset and then the first again, no setting of the second preset may be
  // left.
  Choose("model", QStringLiteral("basics-medium"));
  Choose("model", QStringLiteral("qwen2-0.5b"));
  EXPECT_EQ(window_->config().seq, 512);
  EXPECT_EQ(window_->config().batch, 6);
  EXPECT_EQ(window_->config().Get("optimizer.impl"), "foreach");
  // If the preset changes no other setting, there must be no message.
  Choose("model", QStringLiteral("gpt2"));
  EXPECT_NE(Banner("kind"), "preset-settings");
}

TEST_F(FirstUseTest, ShowsOneGpuOfSeveral) {
  auto two = std::make_shared<trace::Trace>(*testing::MakeRecordedTrace({.steps = 2}));
  for (uint32_t id = 0; id < two->allocations.size(); ++id) two->allocations.device.Set(id, id % 2);
  Open([&](const std::string&, const importers::OpenOptions&) { return TracePtr(two); });
  window_->openFile(QStringLiteral("/nowhere/two.pickle"));
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  ASSERT_TRUE(window_->digest()->device);
  const uint8_t first = *window_->digest()->device;
  EXPECT_EQ(first, analysis::DeviceToShow(two));
  const auto peaks = analysis::PeakOfEachDevice(two);
  const auto shows = [&](uint8_t device) {
    EXPECT_EQ(Peak(), static_cast<double>(peaks[device].peak.allocated));
    EXPECT_EQ(Timeline()["peak"].toObject()["allocated"].toDouble(), Peak());
    EXPECT_EQ(Chip("gpu"), QStringLiteral("cuda:%1 of 2 GPUs").arg(device));
    for (const uint8_t d : window_->digest()->trace->allocations.device) EXPECT_EQ(d, device);
  };
  shows(first);
  EXPECT_EQ(Banner("kind"), QString()) << "no warning is needed";
  // The menu of the chip must list both GPUs with their peaks.
  const QList<QAction*> choices = Find<QToolButton>("chip-gpu")->menu()->actions();
  ASSERT_EQ(choices.size(), 2);
  EXPECT_THAT(choices[1]->text().toStdString(), AllOf(HasSubstr("cuda:1"), HasSubstr("peak")));
  EXPECT_TRUE(choices[first]->isChecked());
  choices[1 - first]->trigger();
  ASSERT_TRUE(Idle());
  shows(1 - first);
  EXPECT_FALSE(State()["ghost"].toBool()) << "another GPU is not the previous run";
  window_->actionRegistry()->Find(QStringLiteral("view.next-device"))->trigger();
  ASSERT_TRUE(Idle());
  shows(first);
}

TEST_F(FirstUseTest, LongRunShowsProgressAndCanBeCancelled) {
  RunDefault();
  run::RunConfig slow = Named("slow");
  slow.steps = 200;
  window_->runConfig(slow);
  ASSERT_TRUE(WaitFor([this] { return Find<QToolButton>("cancel")->isVisible(); }));
  EXPECT_TRUE(Find<QWidget>("progress")->isVisible());
  QTest::mouseClick(Find<QToolButton>("cancel"), Qt::LeftButton);
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  ASSERT_TRUE(WaitFor([this] { return !Find<QToolButton>("cancel")->isVisible(); }));
  EXPECT_THAT(State()["log"].toString().toStdString(), HasSubstr("Cancelled"));
}

}  // namespace
}  // namespace vramscope::ui
