// Drives the real window with a worker that makes up its runs. Runs under Xvfb (see
// CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QSemaphore>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>
#include <QToolButton>
#include <QUrl>

#include "profiler/trace/reader.h"
#include "ui/explain/explain_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/panels/technique_panel.h"
#include "ui/panels/toggle_switch.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

constexpr int kWaitMs = 60'000;

run::RunConfig Named(const char* model) {
  run::RunConfigBuilder builder;
  EXPECT_TRUE(builder.SetModelConfig(model, R"({"model_type": "qwen2"})").ok());
  return builder.Build().value();
}

class ShellTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(false); }

  void Open(bool savings) {
    window_.reset();
    window_ = std::make_unique<MainWindow>(
        MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                          .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                          .savings = savings});
    window_->setThemeChoice(ThemeChoice::kDark);
    window_->resize(1400, 900);
    window_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    // There is no window manager that would do it.
    QApplication::setActiveWindow(window_.get());
  }

  bool WaitFor(const std::function<bool()>& what) { return QTest::qWaitFor(what, kWaitMs); }
  bool Idle() {
    return WaitFor([this] { return !window_->busy(); });
  }
  void RunDefault() {
    window_->runConfig(window_->config());
    ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }))
        << Banner("title").toStdString() << Banner("text").toStdString()
        << State()["status"].toString().toStdString();
  }
  QJsonObject State() { return window_->dumpState(); }
  QString Banner(const char* key) {
    return State()["banner"].toObject()[QLatin1String(key)].toString();
  }
  int ComparedRows() {
    window_->openPage(QStringLiteral("compare"));
    EXPECT_TRUE(WaitFor([this] { return !window_->explainPanel()->busy(); }));
    return State()["explain"].toObject()["compare"].toObject()["table"].toObject()["rows"].toInt();
  }
  double Peak() { return State()["trace"].toObject()["peak_allocated"].toDouble(); }
  QJsonObject Technique(const char* id) {
    const QJsonArray techniques = State()["techniques"].toArray();
    for (const QJsonValue& row : techniques)
      if (row.toObject()["id"].toString() == QLatin1String(id)) return row.toObject();
    return {};
  }
  void Click(const char* toggle) {
    ToggleSwitch* widget = window_->techniquePanel()->toggle(QString::fromLatin1(toggle));
    ASSERT_NE(widget, nullptr);
    QTest::mouseClick(widget, Qt::LeftButton);
  }
  void Trigger(const char* id) {
    QAction* action = window_->actionRegistry()->Find(QString::fromLatin1(id));
    ASSERT_NE(action, nullptr) << id;
    action->trigger();
  }

  QTemporaryDir folder_;
  std::unique_ptr<MainWindow> window_;
};

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

TEST_F(ShellTest, APageThatWasOpenedBeforeThereWasAnythingHasTheTheme) {
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

TEST_F(ShellTest, ToggleReplansAndUndoTakesItBack) {
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

TEST_F(ShellTest, QuickTogglesEndAtTheLastOne) {
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

TEST_F(ShellTest, WhatCannotBeCombinedSaysWhy) {
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
  Click("amp-bf16");  // flash can't stay without it
  ASSERT_TRUE(Idle());
  EXPECT_FALSE(Technique("flash")["on"].toBool());
}

TEST_F(ShellTest, SettingsOfTheRun) {
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

TEST_F(ShellTest, SavingsAreThereBeforeTheClick) {
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

// What is searched for is planned before the rest.
TEST_F(ShellTest, SavingsOfWhatIsLookedAtComeFirst) {
  Open(true);
  window_->openTechniques(QStringLiteral("group:allocator"));
  RunDefault();
  ASSERT_TRUE(
      WaitFor([this] { return Technique("expandable-segments").contains("saving_bytes"); }));
  EXPECT_FALSE(Technique("sgd").contains("saving_bytes"));
}

TEST_F(ShellTest, SaveAndOpenAgain) {
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

TEST_F(ShellTest, ExportsChromeJson) {
  RunDefault();
  const QString path = folder_.filePath(QStringLiteral("run.json"));
  QSignalSpy done(window_.get(), &MainWindow::fileDone);
  window_->exportChrome(path);
  ASSERT_TRUE(WaitFor([&] { return done.size() == 1; }));
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_GT(QJsonDocument::fromJson(file.readAll()).object()["traceEvents"].toArray().size(), 1000);
}

// Keeps what is written in the background from starting, so that a test can come before it.
class HeldThreadPool {
 public:
  HeldThreadPool() : threads_(pool_->maxThreadCount()) {
    pool_->waitForDone();
    pool_->setMaxThreadCount(1);
    pool_->start([this] { held_.acquire(); });
  }
  ~HeldThreadPool() {
    held_.release();
    pool_->setMaxThreadCount(threads_);
    pool_->waitForDone();
  }

 private:
  QThreadPool* pool_ = QThreadPool::globalInstance();
  int threads_;
  QSemaphore held_;
};

TEST_F(ShellTest, CancelledWritingLeavesTheOldFile) {
  RunDefault();
  for (const char* name : {"run.trace", "run.json"}) {
    const QString path = folder_.filePath(QLatin1String(name));
    QFile old(path);
    ASSERT_TRUE(old.open(QIODevice::WriteOnly));
    old.write("as it was");
    old.close();
    QSignalSpy done(window_.get(), &MainWindow::fileDone);
    {
      HeldThreadPool held;
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

TEST_F(ShellTest, DropOpens) {
  RunDefault();
  const QString path = folder_.filePath(QStringLiteral("a.trace"));
  window_->saveTrace(path);
  ASSERT_TRUE(Idle());
  QMimeData mime;
  mime.setUrls({QUrl::fromLocalFile(path)});
  QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QObject* receiver = window_.get();  // QApplication would look for a drag that led here
  ASSERT_TRUE(receiver->event(&drop));
  ASSERT_TRUE(Idle());
  EXPECT_THAT(State()["title"].toString().toStdString(), ::testing::StartsWith("a.trace"));
}

TEST_F(ShellTest, BadFilesSaySo) {
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

TEST_F(ShellTest, CutFileShowsWhatIsThere) {
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

TEST_F(ShellTest, FullDiskKeepsTheOldFile) {
  if (!QFile::exists(QStringLiteral("/dev/full"))) GTEST_SKIP() << "no /dev/full here";
  RunDefault();
  QSignalSpy done(window_.get(), &MainWindow::fileDone);
  // No file can be made beside it: as on a disk that is full or read-only.
  window_->saveTrace(QStringLiteral("/proc/run.trace"));
  ASSERT_TRUE(WaitFor([&] { return done.size() == 1; }));
  EXPECT_FALSE(done[0][1].toBool());
  EXPECT_EQ(Banner("kind"), "save-failed");
  // A limit on the size of files is what a full disk is to the one who writes.
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

TEST_F(ShellTest, WorkerKilledInMidRunIsReplaced) {
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
  // What had arrived is kept: two or three of 200 steps.
  EXPECT_TRUE(State()["partial"].toBool());
  EXPECT_FALSE(State()["trace"].toObject()["complete"].toBool());
  ASSERT_TRUE(WaitFor([this] { return window_->worker()->running(); }));
  EXPECT_NE(window_->worker()->processId(), pid);
  window_->runConfig(run::RunConfigBuilder().Build().value());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Peak(), peak);
  EXPECT_TRUE(State()["banner"].toObject().isEmpty());
}

TEST_F(ShellTest, RefusedRunNamesTheSetting) {
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

TEST_F(ShellTest, ImpossibleConfigurationIsRefused) {
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

TEST_F(ShellTest, TooBigForTheCardSaysByHowMuch) {
  run::RunConfig config = window_->config();
  config.batch = 16;
  config.device = "rtx-3060-12gb";
  window_->runConfig(config);
  ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  EXPECT_EQ(Banner("kind"), "does-not-fit");
  EXPECT_THAT(Banner("title").toStdString(), ::testing::HasSubstr("GiB too much"));
  EXPECT_THAT(State()["chips"].toObject()["fits"].toString().toStdString(),
              ::testing::HasSubstr("too much"));
}

TEST_F(ShellTest, SelectionIsOneEverywhere) {
  RunDefault();
  window_->findChild<QTabWidget*>(QStringLiteral("tables"))->setCurrentIndex(1);
  auto* table = window_->findChild<TableView*>(QStringLiteral("allocationsTable"));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                    table->visualRect(table->model()->index(2, 1)).center());
  const auto id = window_->timelineWidget()->selection();
  ASSERT_TRUE(id.valid());
  const QJsonObject selection = State()["breakdown"].toObject()["selection"].toObject();
  EXPECT_EQ(selection["id"].toDouble(), id.value);
  EXPECT_THAT(selection["facts"].toObject()["block"].toString().toStdString(),
              ::testing::HasSubstr(" B"));
  QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier);
  const QString tsv = QApplication::clipboard()->text();
  EXPECT_EQ(tsv.count(QLatin1Char('\n')), 2);
  EXPECT_TRUE(tsv.startsWith(QStringLiteral("Id\tModule\tOp\t"))) << tsv.toStdString();
  Trigger("edit.clear-selection");
  EXPECT_FALSE(window_->timelineWidget()->selection().valid());
}

TEST_F(ShellTest, AllocationFilter) {
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

TEST_F(ShellTest, CursorMovesTheBreakdown) {
  RunDefault();
  window_->timelineWidget()->setCursorTime(window_->digest()->trace->begin_ns() + 1000);
  Q_EMIT window_->timelineWidget()->cursorMoved(window_->digest()->trace->begin_ns() + 1000);
  EXPECT_EQ(State()["breakdown"].toObject()["heading"].toString(), "AT THE CURSOR");
  Q_EMIT window_->timelineWidget()->cursorMoved(-1);
  EXPECT_EQ(State()["breakdown"].toObject()["heading"].toString(), "AT THE PEAK");
}

TEST_F(ShellTest, BaselineStaysWhenPinned) {
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

TEST_F(ShellTest, ThemesAreRemembered) {
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

TEST_F(ShellTest, EveryActionIsInThePaletteAndRunsFromIt) {
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

TEST_F(ShellTest, ZoomAndBack) {
  RunDefault();
  window_->timelineWidget()->settle();
  const QJsonObject before = State()["timeline"].toObject();
  Trigger("view.zoom-in");
  window_->timelineWidget()->settle();
  EXPECT_NE(State()["timeline"].toObject(), before);
  Trigger("view.fit");
  window_->timelineWidget()->settle();
}

// The real worker, once: the same window over the real plan.
TEST_F(ShellTest, RealWorker) {
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
  // The canvas is drawn before the panels fill.
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

TEST_F(ShellTest, NoWorkerSaysWhatToDo) {
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

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  return RUN_ALL_TESTS();
}
