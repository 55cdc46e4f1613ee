// A fixture with a recording in the real window.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <functional>
#include <memory>
#include <utility>

#include "profiler/trace/writer.h"
#include "tests/ui/shell/recorded_trace.h"
#include "ui/explain/explain_panel.h"
#include "ui/shell/main_window.h"

namespace vramscope::ui::testing {

using vramscope::testing::MakeRecordedTrace;
using vramscope::testing::RecordedOptions;

class RecordedWindow : public ::testing::Test {
 protected:
  void SetUp() override { Open({}); }

  void Open(OpenFunction open) {
    window_.reset();
    window_ = std::make_unique<MainWindow>(
        MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                          .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                          .savings = false,
                          .open = std::move(open)});
    window_->setThemeChoice(ThemeChoice::kDark);
    window_->resize(1400, 900);
    window_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    QApplication::setActiveWindow(window_.get());
  }
  bool WaitFor(const std::function<bool()>& what) { return QTest::qWaitFor(what, 60'000); }
  bool Idle() {
    return WaitFor([this] { return !window_->busy() && !window_->explainPanel()->busy(); });
  }
  QString Write(const char* name, const trace::Trace& trace) {
    const QString path = folder_.filePath(QLatin1String(name));
    EXPECT_TRUE(trace::WriteTraceFile(trace, path.toStdString(), {}).ok());
    return path;
  }
  void OpenRecorded(const RecordedOptions& options = {}) {
    window_->openFile(Write("recorded.trace", *MakeRecordedTrace(options)));
    ASSERT_TRUE(WaitFor([this] { return window_->digest() != nullptr && !window_->busy(); }));
  }
  QJsonObject State() { return window_->dumpState(); }
  QJsonObject Page(const char* id) {
    return State()["explain"].toObject()[QLatin1String(id)].toObject();
  }
  QString Banner(const char* key) {
    return State()["banner"].toObject()[QLatin1String(key)].toString();
  }
  QString Chip(const char* key) {
    return State()["chips"].toObject()[QLatin1String(key)].toString();
  }
  template <class W>
  W* Find(const char* name) {
    return window_->findChild<W*>(QString::fromLatin1(name));
  }

  QTemporaryDir folder_;
  std::unique_ptr<MainWindow> window_;
};

}  // namespace vramscope::ui::testing
