// Tests the window's techniques, group by group, and a run on this computer's GPU. The runs of the
// worker are made up. Runs under Xvfb (see CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QImage>
#include <QJsonArray>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <set>

#include "profiler/run/catalogue.h"
#include "profiler/run/toggles.h"
#include "ui/panels/breakdown_panel.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/technique_panel.h"
#include "ui/panels/toggle_switch.h"
#include "ui/shell/main_window.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;

constexpr int kWaitMs = 60'000;

class TechniquesWindow : public ::testing::Test {
 protected:
  using GpuLibraryFolders = absl::StatusOr<std::vector<std::string>>;

  void SetUp() override {
    window_ = std::make_unique<MainWindow>(
        MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                          .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                          .savings = false,
                          .gpu_libraries = [this] { return gpu_libraries_; }});
    window_->resize(1680, 1050);
    window_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    window_->runConfig(window_->config());
    ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  }
  bool WaitFor(const std::function<bool()>& what) { return QTest::qWaitFor(what, kWaitMs); }
  QJsonObject State() { return window_->dumpState(); }
  std::vector<QJsonObject> Rows() {
    std::vector<QJsonObject> rows;
    for (const QJsonValue& row : window_->techniquePanel()->dumpState())
      rows.push_back(row.toObject());
    return rows;
  }
  std::string Banner(const char* key) {
    return State()["banner"].toObject()[QLatin1String(key)].toString().toStdString();
  }
  void Set(const std::vector<std::pair<std::string, std::string>>& settings) {
    run::RunConfigBuilder builder(window_->config());
    for (const auto& [key, value] : settings) ASSERT_TRUE(builder.Set(key, value).ok()) << key;
    const absl::StatusOr<run::RunConfig> config = builder.Build();
    ASSERT_TRUE(config.ok()) << config.status();
    window_->editConfig(*config);
    ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  }

  QTemporaryDir folder_;
  GpuLibraryFolders gpu_libraries_ = std::vector<std::string>{"/opt/cuda one", "/opt/cuda two"};
  std::unique_ptr<MainWindow> window_;
};

// The name of each group must find exactly its rows, and each group must look different.
TEST_F(TechniquesWindow, SearchByGroupShowsExactlyItsRows) {
  std::set<QString> groups;
  std::set<QByteArray> images;
  for (const run::ToggleRow& row : run::Toggles())
    groups.insert(QString::fromStdString(row.technique->group));
  EXPECT_GE(groups.size(), 12u);
  TechniquePanel* panel = window_->techniquePanel();
  for (const QString& group : groups) {
    window_->openTechniques(QStringLiteral("group:") + group.section(QLatin1Char(' '), 0, 0));
    size_t shown = 0;
    for (const QJsonObject& row : Rows()) {
      EXPECT_EQ(row["found"].toBool(), row["group"].toString() == group)
          << group.toStdString() << ": " << row["id"].toString().toStdString();
      if (!row["found"].toBool()) continue;
      ++shown;
      EXPECT_NE(row["explanation"].toString(), "");
      EXPECT_NE(row["title"].toString(), "");
    }
    EXPECT_GT(shown, 0u) << group.toStdString();
    QApplication::processEvents();
    EXPECT_EQ(panel->visibleRegion().boundingRect().width(), panel->width())
        << group.toStdString() << " is wider than the panel's viewport";
    const QImage image = panel->grab().toImage();
    ASSERT_FALSE(image.isNull());
    EXPECT_TRUE(images
                    .insert(QByteArray(reinterpret_cast<const char*>(image.constBits()),
                                       image.sizeInBytes()))
                    .second)
        << group.toStdString();
  }
}

// The words of a technique's description must find its rows. If nothing matches, a message must say
// where sizes are set.
TEST_F(TechniquesWindow, SearchFindsWordsOfTheDescription) {
  const auto found = [&](const char* words) {
    window_->openTechniques(QLatin1String(words));
    QStringList out;
    for (const QJsonObject& row : Rows())
      if (row["found"].toBool()) out << row["id"].toString();
    return out;
  };
  EXPECT_TRUE(found("seq").contains(QLatin1String("generate")));
  EXPECT_TRUE(found("ZeroRedundancyOptimizer").contains(QLatin1String("zero1")));
  EXPECT_TRUE(found("strategy=zero2").contains(QLatin1String("zero2")));
  EXPECT_FALSE(found("strategy=zero2").contains(QLatin1String("zero1")));
  EXPECT_TRUE(found("8-bit").contains(QLatin1String("activation-int8")));
  // Names that other libraries use must find the techniques, too.
  const std::pair<const char*, const char*> others[] = {
      {"gradient checkpointing", "checkpoint-layer"},
      {"zero-2", "zero2"},
      {"pure bf16", "bf16"},
      {"liger", "chunked-loss"},
      {"peft", "lora"},
      {"qlora", "nf4"},
      {"deepspeed", "zero3"},
      {"mixed precision", "amp-bf16"}};
  for (const auto& [words, id] : others)
    EXPECT_TRUE(found(words).contains(QLatin1String(id))) << words;
  EXPECT_FALSE(found("zero-2").contains(QLatin1String("zero1")));
  EXPECT_TRUE(found("micro-batches zebra").isEmpty());
  bool hint_shown = false;
  for (const QLabel* label : window_->techniquePanel()->findChildren<QLabel*>())
    hint_shown = hint_shown ||
                 (label->isVisible() && label->text().contains(QLatin1String("batch, sequence")));
  EXPECT_TRUE(hint_shown);
}

// The rows of the breakdown must stay the same widgets after another run, and when the cursor moves
// to a time at which the same categories have memory.
TEST_F(TechniquesWindow, BreakdownRowsStayAfterARerunAndAtTheCursor) {
  const auto names = [&] {
    QSet<QWidget*> out;
    for (QWidget* label : window_->findChild<BreakdownPanel*>()->findChildren<ElidedLabel*>())
      if (label->isVisible()) out.insert(label);
    return out;
  };
  const QSet<QWidget*> before = names();
  ASSERT_FALSE(before.isEmpty());
  window_->runConfig(window_->config());
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(names(), before);
  auto* breakdown = window_->findChild<BreakdownPanel*>();
  breakdown->setCursorTime(window_->digest()->at_peak.context.time_ns);
  ASSERT_TRUE(WaitFor([&] { return !breakdown->busy(); }));
  EXPECT_EQ(breakdown->dumpState()["heading"].toString(), QStringLiteral("AT THE CURSOR"));
  EXPECT_EQ(names(), before);
}

// A disabled row must state the reason, and which setting would have to change.
TEST_F(TechniquesWindow, DisabledTechniquesStateTheReason) {
  for (const QJsonObject& row : Rows())
    if (!row["enabled"].toBool()) {
      EXPECT_GT(row["reason"].toString().size(), 10) << row["id"].toString().toStdString();
    }
  const auto reason = [this](const char* id) {
    for (const QJsonObject& row : Rows())
      if (row["id"].toString() == QLatin1String(id)) return row["reason"].toString().toStdString();
    return std::string("no such row");
  };
  EXPECT_THAT(reason("flash"), HasSubstr("16-bit"));
}

// A row that is switched on must show its settings, with the values of the run.
TEST_F(TechniquesWindow, ActiveTechniquesShowTheirSettings) {
  size_t on = 0;
  for (const run::ToggleRow& each : run::Toggles()) {
    const QString id = QString::fromStdString(each.toggle->id);
    ToggleSwitch* toggle = window_->techniquePanel()->toggle(id);
    ASSERT_NE(toggle, nullptr);
    if (each.toggle->controls.empty() || toggle->isChecked() || !toggle->isEnabled()) continue;
    toggle->click();
    ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
    if (!toggle->isChecked()) continue;  // the fake worker's run refused the technique
    QApplication::processEvents();
    const TechniquePanel* panel = window_->techniquePanel();
    EXPECT_EQ(panel->visibleRegion().boundingRect().width(), panel->width())
        << id.toStdString() << " makes the panel wider than its viewport";
    for (const QJsonObject& row : Rows()) {
      if (row["id"].toString() != id) continue;
      const QJsonObject settings = row["settings"].toObject();
      EXPECT_EQ(settings.size(), static_cast<int>(each.toggle->controls.size()))
          << id.toStdString();
      for (const QString& key : settings.keys()) {
        const run::SettingDeclaration* setting = run::FindSetting(key.toStdString());
        ASSERT_NE(setting, nullptr) << key.toStdString();
        if (!setting->default_value.empty()) {  // paths and lengths may be empty
          EXPECT_NE(settings[key].toString(), "") << key.toStdString();
        }
      }
    }
    ++on;
    toggle->click();
    ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  }
  EXPECT_GE(on, 5u);
}

// Each setting of a run must have a control, in the list of techniques or in the form of the run.
// The exceptions are listed with their reasons.
TEST_F(TechniquesWindow, EverySettingOfARunHasAControl) {
  const std::set<std::string_view> none = {
      "custom_device.memory",     // figures of the device, in the window's dialog
      "custom_device.bandwidth",  //
      "custom_device.flops",      //
      "seed",                     // only changes random lengths: set it on the command line
      "backend",                  // running on the GPU is an action
  };
  // Some settings have no field, because a row sets them, for example by a choice.
  const auto by_rows = [](const run::KeyInfo& key) {
    const std::string name(key.key);
    const run::RunConfig plain;
    if (name == "alloc_conf")
      return !run::SwitchedOn(*run::FindToggle("expandable-segments"), plain).alloc_conf.empty();
    for (std::string_view choice : key.choices) {
      const run::SettingDeclaration* setting = run::FindSetting(name);
      const auto sets = [&](const run::ToggleRow& row) {
        return std::ranges::any_of(row.toggle->ways, [&](const run::SettingValues& way) {
          return std::ranges::any_of(
              way, [&](const auto& set) { return set.first == name && set.second == choice; });
        });
      };
      if (choice != setting->default_value && std::ranges::none_of(run::Toggles(), sets))
        return false;
    }
    return !key.choices.empty();
  };
  std::set<QString> open;  // those that can be edited now
  for (const QJsonObject& row : Rows())
    for (const QString& key : row["settings"].toObject().keys()) open.insert(key);
  for (const run::KeyInfo& key : run::Keys()) {
    if (none.contains(key.key)) continue;
    const QString name = QString::fromUtf8(key.key.data(), static_cast<int>(key.key.size()));
    const QString of_the_form =
        name == "optimizer.name" || name == "optimizer.impl" ? QStringLiteral("optimizer") : name;
    if (window_->findChild<QWidget*>(of_the_form) != nullptr) continue;
    const bool under_a_row = std::ranges::any_of(run::Toggles(), [&](const run::ToggleRow& row) {
      return std::ranges::find(row.toggle->controls, key.key) != row.toggle->controls.end();
    });
    const bool control = window_->findChild<QWidget*>("setting-" + name) != nullptr &&
                         (under_a_row || open.contains(name));
    EXPECT_TRUE(control || by_rows(key)) << key.key;
  }
}

// The field next to the batch must accept one length or a list of lengths, which is a setting of
// the Data group.
TEST_F(TechniquesWindow, SequenceFieldAcceptsAListOfLengths) {
  auto* box = window_->findChild<QComboBox*>(QStringLiteral("seq"));
  ASSERT_NE(box, nullptr);
  const auto type = [&](const char* text) {
    box->lineEdit()->selectAll();
    QTest::keyClicks(box->lineEdit(), QLatin1String(text));
    QTest::keyClick(box->lineEdit(), Qt::Key_Return);
    ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  };
  type("128,256");
  EXPECT_EQ(window_->config().Get("lengths"), "128,256");
  EXPECT_EQ(window_->config().seq, 256);
  EXPECT_EQ(box->currentText(), QLatin1String("128,256"));
  type("128,0");
  EXPECT_EQ(Banner("kind"), "bad-config");
  EXPECT_EQ(window_->config().Get("lengths"), "128,256");
  EXPECT_EQ(box->currentText(), QLatin1String("128,256"));
  type("64");
  EXPECT_EQ(window_->config().Get("lengths"), "");
  EXPECT_EQ(window_->config().seq, 64);
}

// Users can type values of settings that have no toggle. The limits of a setting must hold.
TEST_F(TechniquesWindow, SettingsWithoutAToggleCanBeTyped) {
  const auto type = [&](QLineEdit* edit, const char* text) {
    ASSERT_NE(edit, nullptr);
    edit->selectAll();
    QTest::keyClicks(edit, QLatin1String(text));
    QTest::keyClick(edit, Qt::Key_Return);
    ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  };
  const auto list = [this](const char* key) {
    auto* box = window_->findChild<QComboBox*>(QStringLiteral("setting-") + QLatin1String(key));
    return box == nullptr ? nullptr : box->lineEdit();
  };
  type(list("lengths"), "128,256");
  EXPECT_EQ(window_->config().Get("lengths"), "128,256");
  type(list("lengths"), "0,256");
  EXPECT_EQ(Banner("kind"), "bad-config");
  EXPECT_EQ(window_->config().Get("lengths"), "128,256");
  EXPECT_EQ(list("lengths")->text(), "128,256") << "refused values are not kept";
  type(list("trainable"), "*norm*");
  EXPECT_EQ(window_->config().Get("trainable"), "*norm*");
  auto* rate = window_->findChild<QDoubleSpinBox*>(QStringLiteral("setting-optimizer.lr"));
  ASSERT_NE(rate, nullptr);
  type(rate->findChild<QLineEdit*>(), "0.0001");
  EXPECT_EQ(window_->config().Number("optimizer.lr"), 0.0001);
  EXPECT_EQ(rate->text(), "0.0001");
  const run::SettingDeclaration* dropout = run::FindSetting("lora.dropout");
  auto* box = window_->findChild<QDoubleSpinBox*>(QStringLiteral("setting-lora.dropout"));
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->maximum(), dropout->high);
  EXPECT_EQ(box->minimum(), dropout->low);
}

// The user types names of layers. If none matches, the error must list the names that exist.
TEST_F(TechniquesWindow, LoraTargetsAreCheckedAgainstTheModel) {
  window_->techniquePanel()->toggle(QStringLiteral("lora"))->click();
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  auto* targets = window_->findChild<QComboBox*>(QStringLiteral("setting-lora.targets"));
  ASSERT_NE(targets, nullptr);
  const auto type = [&](const char* text) {
    targets->lineEdit()->selectAll();
    QTest::keyClicks(targets->lineEdit(), QLatin1String(text));
    QTest::keyClick(targets->lineEdit(), Qt::Key_Return);
    ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  };
  type("q_proj,down_proj");
  EXPECT_EQ(window_->config().Get("lora.targets"), "q_proj,down_proj");
  type("q_proj down");
  EXPECT_EQ(Banner("kind"), "bad-config") << window_->config().Get("lora.targets");
}

TEST_F(TechniquesWindow, RunsOnTheInstalledGpuAndComparesWithThePlan) {
  const auto plan = window_->digest();
  window_->runOnGpu();
  EXPECT_TRUE(window_->busy());
  ASSERT_TRUE(WaitFor([&] { return !window_->busy() && window_->digest() != plan; }));
  const trace::TraceInfo& info = window_->digest()->trace->info;
  EXPECT_EQ(info.backend, trace::Backend::kCuda);
  EXPECT_EQ(info.config.backend, run::Backend::kCuda);
  EXPECT_EQ(State()["chips"].toObject()["backend"].toString(), "cuda · measured");
  // The run must have started the worker with the folders that were found. Its log arrives a little
  // later.
  const QString started =
      QStringLiteral("--backend cuda --cuda-libraries /opt/cuda one:/opt/cuda two");
  EXPECT_TRUE(WaitFor([&] { return State()["log"].toString().contains(started); }));
  EXPECT_TRUE(State()["baseline"].toBool());
  EXPECT_EQ(State()["tables"].toObject()["current"].toString(), "Compare");
  // The next toggle must make a plan, not another recording.
  EXPECT_EQ(window_->config().backend, run::Backend::kPlan);
  window_->techniquePanel()->toggle(QStringLiteral("checkpoint-layer"))->click();
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(window_->digest()->trace->info.backend, trace::Backend::kPlan);
}

TEST_F(TechniquesWindow, ReportsWhyThereIsNoGpu) {
  gpu_libraries_ = absl::FailedPreconditionError("this computer has no GPU");
  const auto plan = window_->digest();
  window_->runOnGpu();
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(Banner("kind"), "no-card");
  EXPECT_EQ(Banner("text"), "this computer has no GPU.");
  EXPECT_EQ(window_->digest(), plan);
}

}  // namespace
}  // namespace vramscope::ui
