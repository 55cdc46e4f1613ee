// Tests the window without LibTorch: shipped runs, which toggles are available, and the download.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QDir>
#include <QProgressBar>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QToolButton>

#include "profiler/run/toggles.h"
#include "tests/ui/setup/torch_index.h"
#include "tests/ui/shell/shell_window.h"
#include "ui/panels/techniques.h"
#include "ui/shell/setup_panel.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

using ::testing::HasSubstr;
using testing::TorchIndex;

class SetupWindow : public testing::ShellWindow {
 protected:
  void SetUp() override {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) qunsetenv(name);
    Open(true);
  }

  void Open(bool savings, const QString& worker = QStringLiteral(VRAMSCOPE_FAKE_WORKER)) {
    window_.reset();
    MainWindowOptions options{.worker_program = worker,
                              .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                              .savings = savings};
    const QString data = folder_.filePath(QStringLiteral("data"));
    options.setup.download = index_.Options(data);
    options.setup.samples_folder = samples_;
    options.setup.find_libtorch = [data, others = others_] {
      setup::SetupPlaces places;
      places.download = data.toStdString() + "/torch-2.11.0";
      setup::LibTorch torch = setup::FindLibTorch(places);
      if (!torch.found()) torch.rejected = others;
      return torch;
    };
    window_ = std::make_unique<MainWindow>(options);
    window_->resize(1400, 900);
    window_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    QApplication::setActiveWindow(window_.get());
  }
  void Start() {
    RunDefault();
    ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
  }
  void Settle() {
    ASSERT_TRUE(WaitFor([this] { return window_->settled(); }));
  }
  QJsonObject Panel() { return State()["setup"].toObject(); }
  template <class Widget>
  Widget* Find(const char* name) {
    return window_->findChild<Widget*>(QString::fromLatin1(name));
  }
  void ClickButton() { QTest::mouseClick(Find<QToolButton>("setupButton"), Qt::LeftButton); }
  bool DownloadEnds() {
    return WaitFor(
        [this] { return window_->download() == nullptr || !window_->download()->busy(); });
  }

  TorchIndex index_;
  QString samples_ = QStringLiteral(VRAMSCOPE_SOURCE_DIR "/resources/samples");
  std::vector<std::string> others_;
};

TEST_F(SetupWindow, StartsWithAShippedRunAndNoWorker) {
  Start();
  EXPECT_EQ(State()["trace"].toObject()["events"].toInt(), 58'152);
  EXPECT_EQ(Peak(), State()["trace"].toObject()["peak_allocated"].toDouble());
  EXPECT_FALSE(State()["can_plan"].toBool());
  EXPECT_EQ(window_->worker()->processId(), 0);
  EXPECT_EQ(Panel()["button"].toString(), QStringLiteral("Download LibTorch"));
  EXPECT_THAT(Panel()["state"].toString().toStdString(), HasSubstr("to download"));
  EXPECT_EQ(Banner("title"), QString());
}

TEST_F(SetupWindow, ToggleShowsItsShippedRunAndUndoReverts) {
  Start();
  const double before = Peak();
  const QJsonObject lora = Technique("lora");
  ASSERT_TRUE(lora["enabled"].toBool());
  // The saving of the toggle must be shown before the click, and must equal the result.
  const double saving = lora["saving_bytes"].toDouble();
  EXPECT_LT(saving, -1e9);
  Click("lora");
  Settle();
  EXPECT_EQ(Peak(), before + saving);
  EXPECT_TRUE(State()["ghost"].toBool());
  EXPECT_EQ(State()["undo"].toString(), QStringLiteral("LoRA on"));
  // Switches to another shipped run and back again.
  ASSERT_TRUE(Technique("checkpoint-layer")["enabled"].toBool());
  Click("checkpoint-layer");
  Settle();
  EXPECT_LT(Peak(), before + saving);
  Trigger("edit.undo");
  Trigger("edit.undo");
  Settle();
  EXPECT_EQ(Peak(), before);
  EXPECT_EQ(window_->worker()->processId(), 0);
}

TEST_F(SetupWindow, TogglesWithoutShippedRunAreDisabledWithAReason) {
  Start();
  size_t on = 0, off = 0;
  for (const run::ToggleRow& row : run::Toggles()) {
    const QJsonObject shown = Technique(row.toggle->id.c_str());
    if (!run::BlockedBecause(*row.toggle, window_->config()).empty()) continue;
    if (shown["enabled"].toBool()) {
      ++on;
      EXPECT_TRUE(shown.contains(QStringLiteral("saving_bytes"))) << row.toggle->id;
      continue;
    }
    ++off;
    EXPECT_THAT(shown["reason"].toString().toStdString(), HasSubstr("needs LibTorch"))
        << row.toggle->id;
    EXPECT_THAT(shown["saving_why"].toString().toStdString(), HasSubstr("needs LibTorch"));
  }
  EXPECT_GE(on, 12u);
  EXPECT_GE(off, 12u);
  for (const char* name : {"device", "batch", "seq", "steps"})
    EXPECT_FALSE(Find<QWidget>(name)->isEnabled()) << name;
  auto* model = Find<QComboBox>("model");
  const auto* items = qobject_cast<QStandardItemModel*>(model->model());
  EXPECT_TRUE(items->item(model->findData(QStringLiteral("gpt2")))->isEnabled());
  EXPECT_FALSE(items->item(model->findData(QStringLiteral("gemma-2b")))->isEnabled());
}

TEST_F(SetupWindow, OtherShippedModelCanBeChosen) {
  Start();
  auto* model = Find<QComboBox>("model");
  const int at = model->findData(QStringLiteral("gpt2"));
  model->setCurrentIndex(at);
  Q_EMIT model->activated(at);
  Settle();
  EXPECT_EQ(window_->config().model, "gpt2");
  EXPECT_EQ(window_->digest()->trace->info.model.name, "gpt2");
}

TEST_F(SetupWindow, UnshippedConfigurationOffersTheDownload) {
  Start();
  const double before = Peak();
  run::RunConfig config = window_->config();
  config.batch = 7;
  window_->editConfig(config);
  EXPECT_THAT(Banner("text").toStdString(), HasSubstr("vramscope setup"));
  EXPECT_EQ(Banner("action"), QStringLiteral("Download LibTorch"));
  EXPECT_NE(window_->config().batch, 7);
  EXPECT_EQ(Peak(), before);
}

TEST_F(SetupWindow, ReportsMissingLibTorchWithoutSamples) {
  samples_ = folder_.path();
  Open(true);
  window_->runConfig(window_->config());
  ASSERT_TRUE(WaitFor([this] { return !window_->busy(); }));
  EXPECT_EQ(window_->digest(), nullptr);
  EXPECT_THAT(Panel()["title"].toString().toStdString(), HasSubstr("is not installed"));
}

TEST_F(SetupWindow, NamesPyTorchOfAnotherVersion) {
  others_ = {"torch 2.6.0+cu124 in /opt/x: built-in models need torch 2.11.0"};
  Open(true);
  EXPECT_THAT(Panel()["details"].toString().toStdString(), HasSubstr("torch 2.6.0+cu124"));
}

TEST_F(SetupWindow, DownloadIsNotOfferedWithoutAWorker) {
  Open(true, QString());
  RunDefault();
  EXPECT_EQ(Panel()["button"].toString(), QString());
  EXPECT_THAT(Panel()["text"].toString().toStdString(), HasSubstr("no trainer"));
}

TEST_F(SetupWindow, DownloadEnablesPlanningWithoutARestart) {
  Start();
  ClickButton();
  EXPECT_TRUE(Panel()["downloading"].toBool());
  EXPECT_EQ(Panel()["button"].toString(), QStringLiteral("Cancel"));
  ASSERT_TRUE(DownloadEnds());
  EXPECT_TRUE(Panel().isEmpty()) << Panel()["error"].toString().toStdString();
  EXPECT_TRUE(State()["can_plan"].toBool());
  ASSERT_TRUE(WaitFor([this] { return window_->worker()->running(); }));
  EXPECT_TRUE(Find<QWidget>("batch")->isEnabled());
  run::RunConfig config = window_->config();
  config.batch = 4;
  window_->editConfig(config);
  Settle();
  EXPECT_EQ(window_->digest()->trace->info.config.batch, 4);
  EXPECT_TRUE(Technique("dora")["enabled"].toBool());
}

TEST_F(SetupWindow, FailedDownloadIsReportedAndCanBeRetried) {
  Start();
  index_.server[testing::kFile].cut_after = 0;
  index_.server[testing::kFile].cuts = 4;
  ClickButton();
  ASSERT_TRUE(DownloadEnds());
  EXPECT_THAT(Panel()["error"].toString().toStdString(),
              HasSubstr("127.0.0.1 closed the connection"));
  EXPECT_EQ(Panel()["button"].toString(), QStringLiteral("Try again"));
  EXPECT_NE(window_->digest(), nullptr);
  ClickButton();
  ASSERT_TRUE(DownloadEnds());
  EXPECT_TRUE(State()["can_plan"].toBool());
}

TEST_F(SetupWindow, CancelledDownloadKeepsItsPart) {
  Start();
  index_.server[testing::kFile].cut_after = 100'000;
  bool cancelled = false;
  ClickButton();
  QObject::connect(window_->download(), &TorchDownload::progressed, window_.get(),
                   [&](const TorchDownload::Progress& progress) {
                     if (progress.phase != TorchDownload::Phase::kWaiting || cancelled) return;
                     cancelled = true;
                     ClickButton();
                   });
  ASSERT_TRUE(DownloadEnds());
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(Panel()["error"].toString(), QString());
  EXPECT_THAT(Panel()["state"].toString().toStdString(), HasSubstr("already downloaded"));
  EXPECT_FALSE(State()["can_plan"].toBool());
}

TEST_F(SetupWindow, ClosingTheWindowStopsTheDownload) {
  Start();
  // Each connection is cut and continued by another request, so that the download is still running
  // when the window is closed.
  index_.server[testing::kFile].cut_after = 10;
  ClickButton();
  ASSERT_TRUE(WaitFor([this] { return index_.server.requested.size() >= 2; }));
  const QDir data(folder_.filePath(QStringLiteral("data")));
  EXPECT_TRUE(data.exists());
  window_.reset();
  QTest::qWait(100);  // a request that was already sent arrives
  // Nothing may continue in the background: there are no more requests, and nothing is installed.
  const auto requested = index_.server.requested.size();
  QTest::qWait(300);
  EXPECT_EQ(index_.server.requested.size(), requested);
  EXPECT_FALSE(data.exists(QStringLiteral("torch-2.11.0")));
}

TEST_F(SetupWindow, OpensFilesWithoutLibTorch) {
  Start();
  window_->openFile(samples_ + QStringLiteral("/qwen2-0.5b+lora.trace"));
  ASSERT_TRUE(
      WaitFor([this] { return !window_->busy() && !State()["trace"].toObject().isEmpty(); }));
  EXPECT_THAT(State()["title"].toString().toStdString(), HasSubstr("qwen2-0.5b+lora.trace"));
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  QApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
