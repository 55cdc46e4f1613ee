// Simulates long use by random actions in the real window. After each action, the window must still
// be open. After some actions, waits until the window is idle and checks that nothing is lost
// (documents, history, files on disk) and that all parts of the window show the same figures.
// $VRAMSCOPE_RANDOM_ACTIONS sets the number of actions (default 60), $VRAMSCOPE_RANDOM_SEED the
// seed.
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>

#include <QAction>
#include <QCryptographicHash>
#include <QFile>
#include <QPixmapCache>
#include <QTimer>
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "profiler/trace/writer.h"
#include "tests/ui/shell/recorded_trace.h"
#include "tests/ui/shell/shell_window.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/timeline_widget.h"
#include "ui/worker/worker_client.h"

namespace vramscope::ui {
namespace {

using vramscope::testing::MakeRecordedTrace;

// Actions that are never chosen, because they open a file dialog, start another process, or end the
// window.
const std::set<QString> kLeftOut = {
    QStringLiteral("file.quit"),       QStringLiteral("file.open"),
    QStringLiteral("file.open-part"),  QStringLiteral("file.compare"),
    QStringLiteral("file.save"),       QStringLiteral("run.card"),
    QStringLiteral("run.fit"),         QStringLiteral("run.waterfall"),
    QStringLiteral("run.experiments"), QStringLiteral("file.program"),
    QStringLiteral("file.run-program")};

class RandomActions : public testing::ShellWindow {
 protected:
  void SetUp() override {
    testing::ShellWindow::SetUp();
    seed_ = static_cast<unsigned>(qEnvironmentVariableIntValue("VRAMSCOPE_RANDOM_SEED"));
    random_.seed(seed_);
    for (int i = 0; i < 4; ++i) {
      files_ << folder_.filePath(QStringLiteral("recording-%1.trace").arg(i));
      ASSERT_TRUE(trace::WriteTraceFile(
                      *MakeRecordedTrace(
                          {.steps = 2 + 3 * i, .layers = 2 + 20 * i, .out_of_memory = i % 2 == 0}),
                      files_.back().toStdString(), {})
                      .ok());
    }
    damaged_ = folder_.filePath(QStringLiteral("damaged.trace"));
    QFile damaged(damaged_);
    ASSERT_TRUE(damaged.open(QIODevice::WriteOnly));
    damaged.write(QByteArray(5000, 'x'));
    damaged.close();
    for (const QString& file : files_ + QStringList{damaged_}) digests_[file] = Digest(file);
    // Closes dialogs as Escape does.
    connection_ = QObject::connect(&closer_, &QTimer::timeout, [] {
      if (QWidget* modal = QApplication::activeModalWidget()) modal->close();
      if (QWidget* popup = QApplication::activePopupWidget()) popup->close();
    });
    closer_.start(20);
  }

  static QByteArray Digest(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    return QCryptographicHash::hash(file.readAll(), QCryptographicHash::Sha256);
  }
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool Chance(int percent) { return Below(100) < percent; }

  // Performs a random action and returns a description of it.
  std::string Act() {
    const size_t documents = window_->documents().size();
    const auto some = [&] {
      return window_->documents().at(static_cast<size_t>(Below(static_cast<int>(documents)))).id();
    };
    switch (Below(14)) {
      case 0:
      case 1: {
        const QString file = Chance(12) ? damaged_ : files_[Below(4)];
        window_->openFile(file);
        return "open " + file.toStdString();
      }
      case 2: {
        run::RunConfig config = window_->config();
        config.batch = 1 + Below(6);
        window_->editConfig(config);
        return "batch " + std::to_string(config.batch);
      }
      case 3: {
        static constexpr const char* kToggles[] = {"lora", "amp-bf16", "checkpoint-layer",
                                                   "accumulate"};
        const char* id = kToggles[Below(4)];
        ToggleSwitch* toggle = window_->techniquePanel()->toggle(QString::fromLatin1(id));
        EXPECT_NE(toggle, nullptr) << id;
        if (toggle != nullptr && toggle->isEnabled()) toggle->click();
        return std::string("toggle ") + id;
      }
      case 4:
        window_->undo();
        return "undo";
      case 5:
        window_->redo();
        return "redo";
      case 6: {
        const DocumentId id = some();
        window_->showDocument(id);
        return "show " + std::to_string(id);
      }
      case 7: {
        if (documents < 3) return "nothing";
        const DocumentId id = some();
        closed_.insert(id);
        window_->closeDocument(id);
        return "close " + std::to_string(id);
      }
      case 8: {
        const DocumentId a = some(), b = some();
        if (a != b) window_->compareDocuments(a, b);
        return "compare " + std::to_string(a) + " with " + std::to_string(b);
      }
      case 9: {
        const QStringList pages = window_->pageNames();
        const QString page = pages[Below(static_cast<int>(pages.size()))];
        if (page == QLatin1String("program") || page == QLatin1String("fit") ||
            page == QLatin1String("waterfall"))
          return "nothing";
        window_->openPage(page);
        return "page " + page.toStdString();
      }
      case 10: {
        static constexpr Qt::Key kKeys[] = {Qt::Key_W, Qt::Key_S,    Qt::Key_A,     Qt::Key_D,
                                            Qt::Key_P, Qt::Key_F,    Qt::Key_M,     Qt::Key_G,
                                            Qt::Key_N, Qt::Key_Left, Qt::Key_Right, Qt::Key_Escape};
        const Qt::Key key = kKeys[Below(12)];
        QTest::keyClick(window_->timelineWidget(), key);
        return "key " + std::to_string(key);
      }
      case 11: {
        QWidget* canvas = window_->timelineWidget();
        const QPoint at(Below(canvas->width()), Below(canvas->height()));
        QTest::mousePress(canvas, Qt::LeftButton, {}, at);
        if (Chance(50))
          QTest::mouseMove(canvas, QPoint(Below(canvas->width()), Below(canvas->height())));
        QTest::mouseRelease(canvas, Qt::LeftButton, {}, at);
        return "click";
      }
      case 12: {
        if (Chance(80)) {
          window_->cancelAll();
          return "cancel all";
        }
        if (const qint64 worker = window_->worker()->processId(); worker > 0)
          ::kill(static_cast<pid_t>(worker), SIGKILL);
        return "kill the worker";
      }
      default: {
        const auto& entries = window_->actionRegistry()->entries();
        const auto& entry = entries[static_cast<size_t>(Below(static_cast<int>(entries.size())))];
        if (kLeftOut.contains(entry.spec.id) || !entry.action->isEnabled()) return "nothing";
        const DocumentId shown = window_->documents().active().id();
        if (entry.spec.id.contains(QLatin1String("close"))) {
          if (documents < 3) return "nothing";
          closed_.insert(shown);
        }
        entry.action->trigger();
        return "action " + entry.spec.id.toStdString();
      }
    }
  }

  // Checks that all documents are still there, and that all parts of the window show the same
  // figures for them.
  void Check(const std::string& after) {
    ASSERT_TRUE(WaitFor([this] { return window_->settled(); })) << after;
    const QJsonObject state = State();
    std::map<DocumentId, size_t> now;
    for (size_t i = 0; i < window_->documents().size(); ++i) {
      const Document& document = window_->documents().at(i);
      now[document.id()] = document.history.entries().size();
    }
    for (const auto& [id, entries] : seen_) {
      if (closed_.contains(id)) continue;
      ASSERT_TRUE(now.contains(id)) << "document " << id << " is missing, after " << after;
      ASSERT_GE(now[id], std::min(entries, History::kMost)) << "of " << id << ", after " << after;
    }
    seen_.clear();
    for (const auto& [id, entries] : now)
      if (entries > 0) seen_[id] = entries;  // an empty plan is replaced by an opened file
    for (const auto& [file, digest] : digests_.asKeyValueRange())
      ASSERT_EQ(Digest(file), digest) << file.toStdString() << " was changed, after " << after;
    ASSERT_EQ(state["documents"].toArray().size(), static_cast<qsizetype>(now.size())) << after;

    const std::shared_ptr<const vramscope::ui::Digest> shown = window_->digest();
    if (shown == nullptr || window_->partial()) return;
    ASSERT_EQ(window_->timelineWidget()->trace().get(), shown->trace.get())
        << after << "\n"
        << state["log"].toString().right(2000).toStdString();
    const std::string peak = timeline::FormatBytesShort(shown->summary.peak.allocated);
    const std::string chip = state["chips"].toObject()["peak"].toString().toStdString();
    EXPECT_NE(chip.find(peak), std::string::npos) << chip << " for " << peak << ", after " << after;
    EXPECT_EQ(static_cast<uint64_t>(state["trace"].toObject()["peak_allocated"].toDouble()),
              shown->summary.peak.allocated);
    uint64_t parts = 0;
    for (const uint64_t bytes : shown->at_peak.by_category) parts += bytes;
    EXPECT_EQ(parts, shown->summary.peak.allocated) << after;
    const Document& document = window_->documents().active();
    if (document.history.current() != History::kNone) {
      EXPECT_EQ(document.history.now()->peak_allocated, shown->summary.peak.allocated)
          << "of the history's entry, after " << after;
      EXPECT_EQ(document.history.now()->peak_reserved, shown->summary.peak.reserved) << after;
    }
  }

  void CloseAll() {
    window_->cancelAll();
    ASSERT_TRUE(Idle());
    while (window_->documents().size() > 1) {
      const size_t before = window_->documents().size();
      closed_.insert(window_->documents().at(0).id());
      window_->closeDocument(window_->documents().at(0).id());
      ASSERT_TRUE(Idle());
      ASSERT_LT(window_->documents().size(), before);
    }
    closed_.insert(window_->documents().at(0).id());
    window_->closeDocument(window_->documents().at(0).id());
    seen_.clear();
    ASSERT_TRUE(Idle());
    QPixmapCache::clear();  // Qt's cache uses up to 10 MiB
    QTest::qWait(200);      // large objects are freed a moment later
  }
  static size_t BytesInUse() {
    ::malloc_trim(0);
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  void Run(int actions) {
    std::string last;
    for (int i = 0; i < actions; ++i) {
      last += (last.empty() ? "" : "; ") + Act();
      if (Chance(50)) QTest::qWait(Below(60));
      if (!Chance(40) && i + 1 < actions) continue;
      Check(last);
      if (HasFailure()) {
        ADD_FAILURE() << "action " << i << " of seed " << seed_ << ": " << last;
        return;
      }
      last.clear();
    }
  }

  unsigned seed_ = 0;
  std::mt19937 random_;
  QStringList files_;
  QString damaged_;
  QMap<QString, QByteArray> digests_;
  std::map<DocumentId, size_t> seen_;
  std::set<DocumentId> closed_;
  QTimer closer_;
  QMetaObject::Connection connection_;
};

TEST_F(RandomActions, LoseNothingAndShowEqualFiguresEverywhere) {
  const int count = qEnvironmentVariableIntValue("VRAMSCOPE_RANDOM_ACTIONS");
  const int actions = count > 0 ? count : 60;
  RunDefault();
  Run(actions);
  std::printf("%d actions, seed %u: %zu documents at the end\n", actions, seed_,
              window_->documents().size());
}

// Performs the same number of actions twice. The second time must not increase memory. The cache of
// plans does not count, because it grows until it is full.
TEST_F(RandomActions, DoNotLeakMemory) {
  const int count = qEnvironmentVariableIntValue("VRAMSCOPE_RANDOM_ACTIONS");
  const int actions = count > 0 ? count : 60;
  window_.reset();
  window_ = std::make_unique<MainWindow>(
      MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                        .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                        .savings = false,
                        .cache = false});
  window_->resize(1400, 900);
  window_->show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
  size_t before = 0, after = 0;
  for (size_t* bytes : {&before, &after}) {
    RunDefault();
    Run(actions);
    if (HasFailure()) return;
    CloseAll();
    *bytes = BytesInUse();
  }
  std::printf("%d actions twice, seed %u: %.1f MiB, then %.1f MiB\n", actions, seed_,
              static_cast<double>(before) / (1 << 20), static_cast<double>(after) / (1 << 20));
  EXPECT_LT(static_cast<double>(after), static_cast<double>(before) * 1.05 + (2 << 20));
}

}  // namespace
}  // namespace vramscope::ui
