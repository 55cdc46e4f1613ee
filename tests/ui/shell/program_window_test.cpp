// Tests the page that plans and records a user's program. Uses the real launcher, scripts that
// write the output of hooks without PyTorch, and a shell script instead of ssh. Runs under Xvfb
// (see CMakeLists.txt).
#include "tests/ui/shell/program_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "tests/ui/shell/session_restore_test.h"
#include "ui/panels/program_panel.h"
#include "ui/program/program_runner.h"
#include "ui/shell/main_window.h"

namespace vramscope::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using testing::kWaitMs;
using testing::ProgramWindow;

TEST_F(ProgramWindow, ShowsRunningProgramAndReplansOnAnotherGpu) {
  Run("print('hello from it')\nabout()\nchunk(3)\nwait('go')\nchunk(2)\n"
      "about(ended='end', model={'name': 'Net', 'parameters': 5, 'bytes': 20})\n");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 3; }));
  EXPECT_TRUE(window_->partial());
  EXPECT_THAT(Chip("peak"), StartsWith("peak so far"));
  EXPECT_THAT(PageText("output"), HasSubstr("hello from it"));
  ASSERT_TRUE(WaitFor([this] { return PageText("status").find("events") != std::string::npos; }));
  EXPECT_THAT(PageText("status"), HasSubstr("Building the model"));
  EXPECT_THAT(PageText("status"), HasSubstr("peak so far"));
  // While the program runs, the form must be disabled, and a second start must do nothing.
  EXPECT_FALSE(Page("can_start").toBool());
  EXPECT_FALSE(Find<QComboBox>("programDevice")->isEnabled());
  window_->startProgram();

  Touch("go");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 5u);
  EXPECT_FALSE(window_->partial());
  EXPECT_TRUE(window_->digest()->trace->complete) << window_->digest()->trace->end_message;
  EXPECT_EQ(PageText("error"), "");
  EXPECT_THAT(PageText("status"), StartsWith("Planned in"));
  EXPECT_EQ(Chip("backend"), "plan · modelled");
  EXPECT_EQ(Chip("title"), "Net");
  EXPECT_THAT(Chip("subtitle"), HasSubstr("train.py"));
  EXPECT_THAT(Chip("fits"), StartsWith("fits"));
  EXPECT_TRUE(ProgramEnded());
  // The next window must restore the settings of the last run.
  EXPECT_EQ(QSettings(folder_.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat)
                .value(QStringLiteral("program/script"))
                .toString(),
            ScriptFile());

  // If the result is saved and opened again, its kind must still be known.
  const QString saved = folder_.filePath(QStringLiteral("saved.trace"));
  window_->saveTrace(saved);
  ASSERT_TRUE(Idle());
  window_->openFile(saved);
  ASSERT_TRUE(Idle());
  const QJsonObject plan = window_->dumpState()["recording"].toObject();
  EXPECT_EQ(plan["heading"].toString(), "PLANNED PROGRAM");
  EXPECT_THAT(plan["says"].toString().toStdString(),
              HasSubstr("Planned on an emulated NVIDIA GeForce RTX 4090"));
  EXPECT_EQ(plan["facts"].toObject()["program"].toString(), "train.py");

  ASSERT_TRUE(Page("again").toBool());
  auto* again = Find<QToolButton>("programAgain");
  Q_EMIT again->menu()->aboutToShow();
  auto* gpu = again->menu()->findChild<QAction*>(QStringLiteral("h100-sxm"));
  ASSERT_NE(gpu, nullptr);
  gpu->trigger();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(PageText("device"), "h100-sxm");
  EXPECT_THAT(PageText("command"), HasSubstr("--device h100-sxm"));
  EXPECT_EQ(window_->digest()->trace->info.device.key, "h100-sxm");
  const QJsonObject state = window_->dumpState();
  EXPECT_TRUE(state["baseline"].toBool());
  EXPECT_THAT(state["against"].toString().toStdString(), HasSubstr("4090"));
  EXPECT_EQ(state["tables"].toObject()["current"].toString(), "Compare");
}

TEST_F(ProgramWindow, StopKeepsReceivedEvents) {
  Run("about()\nchunk(4)\nwait('never')\n");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 4; }));
  Click("programStop");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 4u);
  EXPECT_THAT(PageText("status"), StartsWith("Stopped after"));
  EXPECT_EQ(PageText("error"), "");
  EXPECT_EQ(Chip("unfinished"), "did not finish");
  EXPECT_TRUE(ProgramEnded());
}

TEST_F(ProgramWindow, ReportsExceptionOfTheProgramAndItsLine) {
  Run("about()\nchunk(1)\nabout(ended='exception', exception='ValueError: no such batch')\n"
      "def train():\n    raise ValueError('no such batch')\ntrain()\n");
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("error"), StartsWith("ValueError: no such batch (train.py:"));
  EXPECT_THAT(PageText("output"), HasSubstr("Traceback"));
  EXPECT_EQ(Banner("kind"), "program-failed");
  EXPECT_EQ(Blocks(), 1u);
}

TEST_F(ProgramWindow, ReportsWhyAScriptDidNotStart) {
  Run("model = (4, 4.cuda()\n");
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("error"), AllOf(StartsWith("SyntaxError: "), HasSubstr(" (train.py:")));
  EXPECT_THAT(PageText("error"), Not(HasSubstr("never imported")));
  EXPECT_THAT(PageText("next"), HasSubstr("before it imported torch"));
  // The next program imports torch, but ends because its command line is wrong.
  Run("about(begin_ns=0)\nprint('train.py: error: unrecognized arguments: --batch', "
      "file=sys.stderr)\n"
      "sys.exit(2)\n");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(PageText("error"), "Unrecognized arguments: --batch");
}

// Each document's page must show the end of its own program.
TEST_F(ProgramWindow, PageShowsTheEndOfTheShownProgram) {
  const QString failing = scripts_.filePath(QStringLiteral("failing.py"));
  ASSERT_TRUE(
      QFile::rename(Script("print('printed by the first')\nabout()\nchunk(1)\n"
                           "about(ended='exception', exception='ValueError: no such batch')\n"
                           "raise ValueError('no such batch')\n"),
                    failing));
  window_->openProgram(failing);
  Click("programStart");
  ASSERT_TRUE(Idle());
  Run("print('printed by the second')\nabout()\nchunk(2)\nwait('go')\nabout(ended='end')\n");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 2; }));
  ASSERT_EQ(window_->documents().size(), 2u);
  const DocumentId first = window_->documents().at(0).id(),
                   second = window_->documents().at(1).id();
  const auto expect_first = [this] {
    EXPECT_THAT(PageText("script"), HasSubstr("failing.py"));
    EXPECT_THAT(PageText("error"), StartsWith("ValueError: no such batch"));
    EXPECT_EQ(PageText("status"), "");
    EXPECT_THAT(PageText("output"), HasSubstr("printed by the first"));
    EXPECT_THAT(PageText("output"), Not(HasSubstr("printed by the second")));
  };
  // The second program ends while the first one's document is shown.
  window_->showDocument(first);
  Touch("go");
  ASSERT_TRUE(Idle());
  expect_first();
  window_->showDocument(second);
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("script"), HasSubstr("train.py"));
  EXPECT_EQ(PageText("error"), "");
  EXPECT_THAT(PageText("status"), StartsWith("Planned in"));
  EXPECT_THAT(PageText("output"), HasSubstr("printed by the second"));
  EXPECT_THAT(PageText("output"), Not(HasSubstr("printed by the first")));
  window_->showDocument(first);
  ASSERT_TRUE(Idle());
  expect_first();
  // "Plan on another GPU" must plan the shown program, not the one that ran last.
  window_->programAgainOn(QStringLiteral("h100-sxm"));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->documents().active().id(), first);
  EXPECT_EQ(window_->documents().active().source.program.device, "h100-sxm");
  EXPECT_EQ(window_->documents().active().source.program.script, failing.toStdString());
}

// The table is empty because there is no run. It must not say that the trace has no steps.
TEST_F(ProgramWindow, FailedProgramAfterAnotherHasNoRunYet) {
  Run("about()\nchunk(1)\nabout(ended='end')\n");
  ASSERT_TRUE(Idle());
  QFile other(scripts_.filePath(QStringLiteral("other.py")));
  ASSERT_TRUE(other.open(QIODevice::WriteOnly));
  other.write("model = (\n");
  other.close();
  window_->openProgram(other.fileName());
  Click("programStart");
  ASSERT_TRUE(Idle());
  ASSERT_EQ(window_->digest(), nullptr);
  EXPECT_THAT(window_->dumpState()["tables"]
                  .toObject()["phases"]
                  .toObject()["empty"]
                  .toString()
                  .toStdString(),
              StartsWith("No run yet"));
}

// The interpreter crashes when it shuts down. The window must report this, but not as a failure,
// because the recording is complete.
TEST_F(ProgramWindow, CrashDuringInterpreterShutdownIsNotAFailure) {
  Run("about()\nchunk(3)\nabout(ended='end')\nimport signal\nos.kill(pid, signal.SIGABRT)\n");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(PageText("error"), "");
  EXPECT_EQ(Banner("kind"), "");
  EXPECT_EQ(Blocks(), 3u);
  EXPECT_TRUE(window_->digest()->trace->complete) << window_->digest()->trace->end_message;
  EXPECT_THAT(PageText("status"), AllOf(StartsWith("Planned in"), HasSubstr("signal 6"),
                                        HasSubstr("while the interpreter shut down")));
}

TEST_F(ProgramWindow, CrashBeforeTheLastLineIsAFailure) {
  Run("about()\nchunk(3)\nimport signal\nos.kill(pid, signal.SIGABRT)\n");
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("error"), HasSubstr("signal 6"));
  EXPECT_THAT(PageText("error"), Not(HasSubstr("shut down")));
  EXPECT_EQ(Banner("kind"), "program-failed");
  EXPECT_EQ(Blocks(), 3u);
}

TEST_F(ProgramWindow, OutOfMemoryIsExplained) {
  Run("about()\nchunk(1)\nabout(ended='exception', exception='OutOfMemoryError: CUDA out of "
      "memory. '\n"
      "      'Tried to allocate 608.00 MiB. GPU 0 has a total capacity of 23.52 GiB. ' + 'x' * "
      "5000)\n"
      "raise SystemExit(1)\n");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(PageText("error"),
            "OutOfMemoryError: CUDA out of memory. Tried to allocate 608.00 MiB");
  EXPECT_EQ(Banner("title"), "train.py does not fit into the GPU");
  EXPECT_EQ(window_->dumpState()["tables"].toObject()["current"].toString(), "Out of memory");
}

TEST_F(ProgramWindow, ReportsMissingOrCpuOnlyTorch) {
  Run("print('no torch here')\n");
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("error"), HasSubstr("never imported torch"));
  EXPECT_FALSE(Page("again").toBool());
  EXPECT_EQ(window_->digest(), nullptr);
  // This PyTorch was built without CUDA.
  Run("about(cuda='')\n");
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("error"), HasSubstr("for the CPU only"));
}

TEST_F(ProgramWindow, ClosingTheWindowKillsAProgramThatIgnoresSignals) {
  // This program ignores even the signals that Stop sends.
  Run("import signal\nfor s in signal.SIGINT, signal.SIGTERM:\n    signal.signal(s, "
      "signal.SIG_IGN)\n"
      "about()\nchunk(1)\nwait('never')\n");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 1; }));
  window_.reset();
  EXPECT_TRUE(ProgramEnded());
}

TEST_F(ProgramWindow, RanksAreDevicesOfOneTrace) {
  window_->openProgram();
  Find<QSpinBox>("programRanks")->setValue(2);
  Run("about()\nchunk(1 + int(os.environ['RANK']))\nwait('go')\nabout(ended='end')\n");
  // While the program runs, the shown rank must not change.
  ASSERT_TRUE(WaitFor([this] { return Chip("gpu") == "rank 0 of 2 GPUs"; }));
  Touch("go");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Chip("gpu"), "rank 1 of 2 GPUs");
  EXPECT_EQ(Blocks(), 2u);
  // All ranks are saved.
  const QString saved = folder_.filePath(QStringLiteral("saved.trace"));
  window_->saveTrace(saved);
  ASSERT_TRUE(Idle());
  window_->openFile(saved);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Chip("gpu"), "rank 1 of 2 GPUs");
  window_->showDevice(0);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Chip("gpu"), "rank 0 of 2 GPUs");
  EXPECT_EQ(Blocks(), 1u);
}

TEST_F(ProgramWindow, OpenedScriptFillsThePageWithoutStarting) {
  window_->openFiles({Script("about()\n")});
  EXPECT_FALSE(window_->busy());
  EXPECT_EQ(Page("script").toString(), ScriptFile());
  EXPECT_GT(Page("interpreters").toArray().size(), 0);
  EXPECT_THAT(PageText("command"), HasSubstr("vramscope plan --device rtx-4090 -- "));
  EXPECT_EQ(Pid(), 0);
  QTest::keyClicks(Find<QLineEdit>("programArguments"), QStringLiteral("--name 'x"));
  EXPECT_FALSE(Page("can_start").toBool());
  EXPECT_THAT(PageText("status"), HasSubstr("not closed"));
  QTest::keyClicks(Find<QLineEdit>("programArguments"), QStringLiteral("'"));
  EXPECT_TRUE(Page("can_start").toBool());
  EXPECT_EQ(PageText("status"), "");
}

// measured() is like about(), but states the clock and the properties of a real GPU.
constexpr const char* kMeasured =
    "def measured(**more):\n"
    "    about(clock='wall', card={'name': 'NVIDIA A100-SXM4-80GB', 'memory_bytes': 85899345920,"
    " 'sm_count': 108, 'compute_capability': 80}, **more)\n";

TEST_F(ProgramWindow, RecordsOnTheGpuOfThisComputer) {
  window_->openProgram();
  Choose(program::Where::kHere);
  EXPECT_EQ(PageText("start"), "Record this program");
  EXPECT_THAT(PageText("warning"), HasSubstr("this computer's GPU"));
  const QJsonArray fields = Page("fields").toArray();
  EXPECT_FALSE(fields.contains("programDevice"));  // the GPU is the one of the recording
  EXPECT_FALSE(fields.contains("programSkipInit"));
  EXPECT_FALSE(fields.contains("programHost"));
  EXPECT_TRUE(fields.contains("programOperators"));
  Run(std::string(kMeasured) +
      "measured()\nchunk(3)\nwait('go')\nchunk(1)\nmeasured(ended='end')\n");
  EXPECT_THAT(PageText("command"), HasSubstr("vramscope record --steps 2 -- "));
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 3; }));
  EXPECT_THAT(Chip("peak"), StartsWith("peak so far"));
  Touch("go");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 4u);
  EXPECT_THAT(PageText("status"), StartsWith("Recorded in"));
  EXPECT_EQ(Chip("backend"), "cuda · measured");
  EXPECT_THAT(Chip("subtitle"), HasSubstr("train.py"));
  EXPECT_THAT(Chip("device"), HasSubstr("A100"));
  EXPECT_TRUE(window_->digest()->trace->info.measured);

  // If a plan is made from a recording, the recording must become its baseline.
  auto* again = Find<QToolButton>("programAgain");
  Q_EMIT again->menu()->aboutToShow();
  again->menu()->findChild<QAction*>(QStringLiteral("a100-80gb"))->trigger();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Chip("backend"), "plan · modelled");
  EXPECT_THAT(PageText("command"), HasSubstr("vramscope plan --device a100-80gb -- "));
  EXPECT_TRUE(window_->dumpState()["baseline"].toBool());
  EXPECT_EQ(window_->dumpState()["tables"].toObject()["current"].toString(), "Compare");
}

TEST_F(ProgramWindow, ShowsRecordingOnAnotherComputerWhileItRuns) {
  Ssh("exec sh -c \"$3\"\n");
  RecordElsewhere();
  const QJsonArray fields = Page("fields").toArray();
  EXPECT_TRUE(fields.contains("programHost"));
  EXPECT_TRUE(fields.contains("programHostInterpreter"));
  EXPECT_FALSE(fields.contains("programInterpreter"));
  EXPECT_FALSE(fields.contains("programDevice"));
  Run(std::string(kMeasured) +
      "print('there')\nmeasured()\nchunk(2)\nwait('go')\nchunk(3)\n"
      "measured(ended='end')\n");
  EXPECT_THAT(PageText("command"),
              StartsWith("vramscope record --host user@box --remote-vramscope "));
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 2; })) << PageText("error");
  EXPECT_TRUE(window_->partial());
  EXPECT_THAT(PageText("output"), HasSubstr("there"));
  Touch("go");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 5u);
  EXPECT_EQ(PageText("error"), "");
  EXPECT_EQ(Chip("backend"), "cuda · measured");
  // A program that ran on another computer cannot be planned on this one.
  EXPECT_FALSE(Page("again").toBool());
  EXPECT_TRUE(ProgramEnded());
  QFile host(folder_.filePath(QStringLiteral("host")));
  ASSERT_TRUE(host.open(QIODevice::ReadOnly));
  EXPECT_EQ(host.readAll(), "user@box\n");
  // The next window must restore these settings.
  window_.reset();
  Open();
  EXPECT_TRUE(Page("fields").toArray().contains("programHost"));
}

TEST_F(ProgramWindow, StopsRemoteProgramAndKeepsReceivedEvents) {
  Ssh("exec sh -c \"$3\"\n");
  RecordElsewhere();
  Run("about(clock='wall')\nchunk(4)\nwait('never')\n");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 4; })) << PageText("error");
  Click("programStop");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 4u);
  EXPECT_THAT(PageText("status"), StartsWith("Stopped after"));
  EXPECT_TRUE(ProgramEnded());
}

TEST_F(ProgramWindow, ReportsFailuresOfTheRemoteComputer) {
  Ssh("echo 'ssh: connect to host box port 22: Connection refused' >&2\nexit 255\n");
  RecordElsewhere();
  Run("about()\n");
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("error"), HasSubstr("cannot reach 'user@box'"));
  EXPECT_THAT(PageText("next"), HasSubstr("ssh user@box true"));
  EXPECT_THAT(PageText("output"), HasSubstr("Connection refused"));
  Ssh("exit 127\n");
  Click("programStart");
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("error"), HasSubstr("'user@box' has no '"));
  // The connection fails while the program runs. The data that had arrived must be kept.
  Ssh("exec 3<&0\nsh -c \"$3\" <&3 3<&- &\n"
      "while [ ! -e \"${0%/*}/go\" ]; do sleep 0.05; done\nkill -9 $!\nexit 255\n");
  Run("about(clock='wall')\nchunk(2)\nwait('never')\n");
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 2; })) << PageText("error");
  Touch("go");
  ASSERT_TRUE(Idle());
  EXPECT_THAT(PageText("error"),
              HasSubstr("The connection to 'user@box' ended before the program did"));
  EXPECT_THAT(PageText("next"), HasSubstr("The events that arrived are shown"));
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_TRUE(ProgramEnded());
  Type("programHost", QStringLiteral("-oProxyCommand=x"));
  EXPECT_FALSE(Page("can_start").toBool());
  EXPECT_THAT(PageText("status"), HasSubstr("not a host"));
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  if (QApplication::arguments().value(1) == QLatin1String("--drive"))
    return vramscope::ui::DriveWindow(QApplication::arguments().mid(2));
  return RUN_ALL_TESTS();
}
