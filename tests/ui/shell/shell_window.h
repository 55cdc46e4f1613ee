// A fixture with the real window and the worker of fake_worker.cpp, whose runs are made up.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <functional>
#include <memory>

#include "ui/explain/explain_panel.h"
#include "ui/panels/technique_panel.h"
#include "ui/panels/toggle_switch.h"
#include "ui/shell/main_window.h"

namespace vramscope::ui::testing {

class ShellWindow : public ::testing::Test {
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
    // Activates the window, because no window manager does it.
    QApplication::setActiveWindow(window_.get());
  }

#ifdef __SANITIZE_THREAD__
  static constexpr int kPatienceMs = 600'000;  // a plan takes ten times as long with sanitizers
#else
  static constexpr int kPatienceMs = 60'000;
#endif
  bool WaitFor(const std::function<bool()>& what) { return QTest::qWaitFor(what, kPatienceMs); }
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

}  // namespace vramscope::ui::testing
