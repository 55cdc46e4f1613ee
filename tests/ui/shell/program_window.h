// A fixture for tests of programs, with the real window and the real launcher. The scripts write
// the output that hooks would write, without PyTorch.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <functional>
#include <memory>
#include <string>

#include "profiler/program/scratch_folder.h"
#include "ui/panels/program_panel.h"
#include "ui/program/program_runner.h"
#include "ui/shell/main_window.h"

namespace vramscope::ui::testing {

inline constexpr int kWaitMs = 60'000;

// Every test script begins with this. chunk(n) writes n blocks of 1 MiB as the hooks would.
// wait(name) waits until a file with that name exists.
inline constexpr const char* kHooks = R"PY(import json, os, pickle, sys, time
out, pid = os.environ["VRAMSCOPE_PROGRAM_OUTPUT"], os.getpid()
here = os.environ["VRAMSCOPE_TEST_SHARED"]
made = [0]
def about(**more):
    with open(f"{out}/process-{pid}.json.part", "w") as file:
        json.dump({"pid": pid, "rank": int(os.environ.get("RANK", 0)), "torch": "2.9.0", "cuda": "13.0", "python": "3",
                   "begin_ns": 1, "clock": "virtual", "ended": "", **more}, file)
    os.replace(f"{out}/process-{pid}.json.part", f"{out}/process-{pid}.json")
def chunk(blocks):
    os.makedirs(f"{out}/process-{pid}", exist_ok=True)
    entries = []
    for _ in range(blocks):
        address = 1 << 40 | made[0] << 21
        made[0] += 1
        for action in "segment_alloc", "alloc":
            entries.append({"action": action, "addr": address, "size": 1 << 20, "stream": 0, "time_us": made[0],
                            "frames": [{"name": "main", "filename": __file__, "line": 7}]})
    number = len(os.listdir(f"{out}/process-{pid}"))
    with open(f"{out}/part", "wb") as file:
        segments = [{"device": 0, "address": 1 << 40 | i << 21, "total_size": 1 << 20, "stream": 0, "segment_type": "large",
                     "blocks": [{"address": 1 << 40 | i << 21, "size": 1 << 20, "requested_size": 1 << 20,
                                 "state": "active_allocated"}]} for i in range(made[0])]
        pickle.dump({"segments": segments, "device_traces": [entries], "allocator_settings": {}}, file, 4)
    os.replace(f"{out}/part", f"{out}/process-{pid}/history-{number:06}.pickle")
def wait(name):
    while not os.path.exists(f"{here}/{name}"):
        time.sleep(0.01)
open(f"{here}/pid", "w").write(str(pid))
)PY";

class ProgramWindow : public ::testing::Test {
 protected:
  void SetUp() override {
    qputenv("TMPDIR", folder_.filePath(QStringLiteral("tmp")).toUtf8());
    QDir().mkpath(folder_.filePath(QStringLiteral("tmp")));
    Open();
  }
  void Open() {
    window_ = std::make_unique<MainWindow>(
        MainWindowOptions{.worker_program = QStringLiteral(VRAMSCOPE_FAKE_WORKER),
                          .vramscope = vramscope_,
                          .settings_file = folder_.filePath(QStringLiteral("settings.ini")),
                          .savings = false});
    window_->resize(1400, 900);
    window_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    QApplication::setActiveWindow(window_.get());
  }
  void TearDown() override {
    window_.reset();
    // No temporary folder may be left. Make() removes the folders of killed launchers, like the
    // start of another launcher.
    ASSERT_TRUE(program::ScratchFolder::Make().ok());
    EXPECT_EQ(QDir(folder_.filePath(QStringLiteral("tmp")))
                  .entryList(QDir::AllEntries | QDir::NoDotAndDotDot)
                  .join(QLatin1Char(' ')),
              QString());
  }

  QString ScriptFile() const { return scripts_.filePath(QStringLiteral("train.py")); }
  QString Script(const std::string& text) {
    qputenv("VRAMSCOPE_TEST_SHARED", folder_.path().toUtf8());
    QFile file(ScriptFile());
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(kHooks);
    file.write(text.c_str());
    return file.fileName();
  }
  void Touch(const char* name) {
    QFile file(folder_.filePath(QLatin1String(name)));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  }
  template <class Widget>
  Widget* Find(const char* name) {
    Widget* widget = window_->programPanel()->findChild<Widget*>(QLatin1String(name));
    EXPECT_NE(widget, nullptr) << name;
    return widget;
  }
  void Click(const char* name) { QTest::mouseClick(Find<QPushButton>(name), Qt::LeftButton); }
  bool WaitFor(const std::function<bool()>& what) { return QTest::qWaitFor(what, kWaitMs); }
  bool Idle() {
    return WaitFor([this] { return !window_->busy(); });
  }
  void Type(const char* name, const QString& text) {
    auto* edit = Find<QLineEdit>(name);
    edit->clear();
    QTest::keyClicks(edit, text);
  }
  void Choose(program::Where where) {
    auto* box = Find<QComboBox>("programWhere");
    box->setCurrentIndex(static_cast<int>(where));
    Q_EMIT box->activated(box->currentIndex());
  }
  // Installs a script in place of ssh. Its arguments are "-T", the host and the command.
  void Ssh(const char* script) {
    QFile file(folder_.filePath(QStringLiteral("ssh")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\necho \"$2\" >\"${0%/*}/host\"\n");
    file.write(script);
    file.close();
    file.setPermissions(file.permissions() | QFileDevice::ExeOwner);
    qputenv("VRAMSCOPE_SSH", file.fileName().toUtf8());
  }
  void RecordElsewhere() {
    window_->openProgram();
    Choose(program::Where::kHost);
    Type("programHost", QStringLiteral("user@box"));
    Type("programHostVramscope", QStringLiteral(VRAMSCOPE_PROGRAM));
  }
  // Enters the script on the page and starts it there.
  void Run(const std::string& text) {
    window_->openProgram(Script(text));
    ASSERT_TRUE(Page("can_start").toBool()) << PageText("status");
    Click("programStart");
    ASSERT_TRUE(Page("running").toBool()) << PageText("error");
  }
  QJsonValue Page(const char* key) {
    return window_->programPanel()->dumpState()[QLatin1String(key)];
  }
  std::string PageText(const char* key) { return Page(key).toString().toStdString(); }
  std::string Chip(const char* key) {
    return window_->dumpState()["chips"].toObject()[QLatin1String(key)].toString().toStdString();
  }
  std::string Banner(const char* key) {
    return window_->dumpState()["banner"].toObject()[QLatin1String(key)].toString().toStdString();
  }
  uint64_t Blocks() {
    return window_->digest() == nullptr ? 0 : window_->digest()->trace->allocations.size();
  }
  pid_t Pid() {
    QFile file(folder_.filePath(QStringLiteral("pid")));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toInt() : 0;
  }
  bool ProgramEnded() {
    const pid_t pid = Pid();
    return pid > 0 && WaitFor([pid] { return kill(pid, 0) != 0; });
  }

  // In the next dialog that asks something, presses the button with this object name.
  void AnswerNext(const char* button) {
    auto* poll = new QTimer(window_.get());
    QObject::connect(poll, &QTimer::timeout, poll, [poll, button, this] {
      const QWidget* question = QApplication::activeModalWidget();
      if (question == nullptr) return;
      auto* found = question->findChild<QPushButton*>(QLatin1String(button));
      if (found == nullptr) return;
      ++answered_;
      if (const auto* box = qobject_cast<const QMessageBox*>(question))
        asked_ = box->informativeText();
      poll->deleteLater();
      poll->stop();
      found->click();
    });
    poll->start(20);
  }
  bool Running() {
    const pid_t pid = Pid();
    return pid > 0 && kill(pid, 0) == 0;
  }
  // The stored results, newest first.
  QStringList StoredFiles() {
    QStringList out;
    for (const QFileInfo& file :
         QDir(window_->storedResults().folder())
             .entryInfoList({QStringLiteral("*.trace")}, QDir::Files, QDir::Time))
      out << file.absoluteFilePath();
    return out;
  }

  // Test and program exchange files in this folder. In other folders, writes of a planned program
  // are isolated, and the program may not see files that are created while it runs
  // (docs/security.md).
  QTemporaryDir folder_{QStringLiteral("/dev/shm/program-window-XXXXXX")};
  // A plan does not start where its files are not isolated.
  QTemporaryDir scripts_{QStringLiteral("/var/tmp/program-window-XXXXXX")};
  QString vramscope_ = QStringLiteral(VRAMSCOPE_PROGRAM);
  std::unique_ptr<MainWindow> window_;
  int answered_ = 0;  // number of dialogs
  QString asked_;     // the explanation in the question answered last
};

}  // namespace vramscope::ui::testing
