// Tests techniques and studies of a user's program in the window. A script replaces vramscope and
// prints results of fit, toggles and waterfall. For plans, it calls the real launcher.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QJsonArray>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTest>
#include <QToolButton>

#include "profiler/base/i18n.h"
#include "tests/ui/shell/program_window.h"
#include "ui/panels/program_toggles.h"
#include "ui/studies/program_pages.h"
#include "ui/studies/study_page.h"
#include "ui/studies/vary_chart.h"

namespace vramscope::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kScript = "about()\nchunk(2)\nabout(ended='end')\n";
constexpr const char* kSavings = R"J({"start": {"needed": 4294967296, "step_ms": 10}, "rows": [
  {"toggle": "checkpointing", "label": "recompute activations", "changes": "nothing", "excludes": [],
   "saves": 1048576, "same_peak": false, "step_ms": 13, "error": null, "outcome": [{"name": "checkpointing",
   "change": [{"text": "model.gradient_checkpointing_enable()", "where": "/home/me/train.py:12"}]}]},
  {"toggle": "bf16", "label": "autocast", "changes": "rounding", "excludes": ["weights"],
   "saves": 1073741824, "same_peak": false, "step_ms": 6, "error": null, "outcome": [{"name": "bf16",
   "change": [{"text": "with torch.autocast('cuda'):", "where": "/home/me/train.py:20"}]}]},
  {"toggle": "weights=bf16", "label": "weights", "changes": "training", "excludes": [],
   "saves": 0, "same_peak": false, "step_ms": 10, "error": null, "outcome": []},
  {"toggle": "offload", "label": "offload", "changes": "nothing", "excludes": [],
   "error": "an allocation fails", "outcome": []}],
  "toggles": [{"name": "lora", "state": "does not apply", "why": "no from_pretrained", "overridden": ""},
              {"name": "bf16", "state": "applies", "why": "", "overridden": ""}]})J";

class ProgramStudies : public testing::ProgramWindow {
 protected:
  void SetUp() override {
    Write("vramscope", "#!/bin/sh\ncase $1 in plan|record) exec " VRAMSCOPE_PROGRAM
                       " \"$@\";; esac\nhere=\"${0%/*}\"\necho \"$*\" >>\"$here/commands\"\n"
                       "[ -e \"$here/slow\" ] && exec sleep 600\n"
                       "[ -e \"$here/$1.sh\" ] && . \"$here/$1.sh\"\n"
                       "[ -e \"$here/$1.error\" ] && cat \"$here/$1.error\" >&2 && exit 3\n"
                       "exec cat \"$here/$1.json\"\n");
    QFile::setPermissions(Path("vramscope"),
                          QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    vramscope_ = Path("vramscope");
    std::string savings = kSavings;  // on one line
    std::erase(savings, '\n');
    Write("toggles.json", savings + "\n");
    testing::ProgramWindow::SetUp();
  }
  QString Path(const char* name) { return folder_.filePath(QLatin1String(name)); }
  void Write(const char* name, const std::string& text) {
    QFile file(Path(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text.data(), static_cast<qint64>(text.size()));
  }
  // Returns the commands with which the script was called, except plans.
  std::string Commands() {
    QFile file(Path("commands"));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
  }
  void FindToggles() {
    window_->programPanel()
        ->toggles()
        ->findChild<QPushButton*>(QStringLiteral("programFindToggles"))
        ->click();
  }
  QJsonObject Toggles() { return Page("toggles").toObject(); }
  QJsonObject Toggle(const char* name) {
    for (const QJsonValue& row : Toggles()["rows"].toArray())
      if (row.toObject()["toggle"].toString() == QLatin1String(name)) return row.toObject();
    return {};
  }
  void Switch(const char* toggle) {
    auto* button = window_->programPanel()->toggles()->findChild<QAbstractButton*>(
        QStringLiteral("program-toggle-") + QLatin1String(toggle));
    ASSERT_NE(button, nullptr) << toggle;
    ASSERT_TRUE(button->isEnabled()) << toggle;
    button->click();
  }
  QJsonObject State(const char* key) { return window_->dumpState()[QLatin1String(key)].toObject(); }
  const Document& Active() { return window_->documents().active(); }
  void Plan() {
    Run(kScript);
    ASSERT_TRUE(Idle());
    ASSERT_EQ(Blocks(), 2u) << PageText("error");
  }
};

TEST_F(ProgramStudies, FindsTechniquesThatApplyAndWhatTheySave) {
  window_->openProgram();
  EXPECT_FALSE(Toggles()["can_search"].toBool()) << "there is no script yet";
  window_->openProgram(Script(kScript));
  EXPECT_TRUE(Toggles()["rows"].toArray().isEmpty());
  FindToggles();
  EXPECT_TRUE(window_->busy());
  EXPECT_TRUE(Toggles()["searching"].toBool());
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Commands(),
              StartsWith("toggles --device rtx-4090 --savings --json-lines --json -- "));
  EXPECT_THAT(Commands(), HasSubstr("train.py"));
  // The largest saving comes first.
  const QJsonArray rows = Toggles()["rows"].toArray();
  ASSERT_EQ(rows.size(), 4);
  EXPECT_EQ(rows[0].toObject()["toggle"].toString(), "bf16");
  EXPECT_EQ(rows[1].toObject()["toggle"].toString(), "checkpointing");
  EXPECT_THAT(Toggle("bf16")["saving"].toString().toStdString(), HasSubstr("1"));
  EXPECT_THAT(Toggle("bf16")["saving"].toString().toStdString(), HasSubstr("GiB"));
  EXPECT_THAT(Toggle("bf16")["time"].toString().toStdString(), HasSubstr("0.6"));
  EXPECT_EQ(Toggle("bf16")["lines"].toString(), "train.py:20: with torch.autocast('cuda'):");
  // If only the peak of allocated memory changes, the color must not tell a loss.
  for (const QLabel* label : window_->programPanel()->toggles()->findChildren<QLabel*>()) {
    if (label->text() != QStringLiteral("\u00b10")) continue;
    EXPECT_EQ(label->property("tone").toString(), "faint");
  }
  EXPECT_FALSE(Toggle("offload")["enabled"].toBool());
  EXPECT_EQ(Toggle("offload")["error"].toString(), "an allocation fails");
  EXPECT_THAT(Toggles()["others"].toString().toStdString(),
              AllOf(HasSubstr("lora: no from_pretrained"), Not(HasSubstr("bf16"))));
  EXPECT_EQ(Pid(), 0) << "nothing was planned in the window";

  // No result is shown yet, so a switch must only change the command.
  Switch("bf16");
  EXPECT_THAT(PageText("command"), HasSubstr("--toggle bf16 --"));
  EXPECT_EQ(Toggles()["to_write"].toString(), "train.py:20: with torch.autocast('cuda'):");
  Switch("weights=bf16");
  EXPECT_FALSE(Toggle("bf16")["on"].toBool()) << "bf16 excludes weights";
  EXPECT_TRUE(Toggle("weights=bf16")["on"].toBool());
  EXPECT_FALSE(window_->busy());
  // Techniques of one script must not be shown for another.
  window_->openProgram(Path("other.py"));
  EXPECT_TRUE(Toggles()["rows"].toArray().isEmpty());
  EXPECT_THAT(PageText("command"), Not(HasSubstr("--toggle")));
}

TEST_F(ProgramStudies, JoinsSettingsOfOneVariable) {
  std::string rows;
  for (const auto& [toggle, setting] :
       {std::pair("expandable-segments", "expandable_segments:True"),
        std::pair("max-split-size=128", "max_split_size_mb:128")})
    rows += std::string(rows.empty() ? "" : ", ") + R"({"toggle": ")" + toggle +
            R"(", "changes": "nothing", "excludes": [], "saves": 1048576, "same_peak": false,)" +
            R"( "step_ms": 10, "error": null, "outcome": [{"change": [{"text": )" +
            R"("PYTORCH_CUDA_ALLOC_CONF=)" + setting + R"(", "where": "environment"}]}]})";
  Write("toggles.json", R"({"start": {"needed": 4294967296, "step_ms": 10}, "rows": [)" + rows +
                            "], \"toggles\": []}\n");
  window_->openProgram(Script(kScript));
  FindToggles();
  ASSERT_TRUE(Idle());
  Switch("expandable-segments");
  Switch("max-split-size=128");
  EXPECT_EQ(Toggles()["to_write"].toString(),
            "environment: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128");
}

// The script prints each part of its output when the test creates a file.
TEST_F(ProgramStudies, SavingsArriveOneByOne) {
  Write("toggles.sh", R"SH(await() { while [ ! -e "$here/$1" ]; do sleep 0.05; done; }
await start
cat <<'END'
{"start": {"needed": 4294967296, "step_ms": 10}, "planning": [{"toggle": "checkpointing", "label": "recompute", "changes": "nothing", "excludes": []}, {"toggle": "bf16", "label": "autocast", "changes": "rounding", "excludes": ["weights"]}, {"toggle": "offload", "label": "offload", "changes": "nothing", "excludes": []}]}
{"begun": "bf16"}
END
await bf16
echo '{"row": {"toggle": "bf16", "label": "autocast", "changes": "rounding", "excludes": [], "saves": 2147483648, "same_peak": false, "step_ms": 6, "error": null, "outcome": []}}'
await end
)SH");
  window_->openProgram(Script(kScript));
  FindToggles();
  EXPECT_THAT(Toggles()["says"].toString().toStdString(), HasSubstr("without techniques"));
  Touch("start");
  ASSERT_TRUE(
      WaitFor([this] { return Toggle("bf16")["explanation"].toString() == "being planned …"; }));
  EXPECT_EQ(Toggle("offload")["explanation"].toString(), "waiting to be planned");
  EXPECT_EQ(Toggle("bf16")["saving"].toString(), "");
  EXPECT_EQ(Toggles()["says"].toString(), "0 of 3 techniques are planned");
  EXPECT_TRUE(Toggle("bf16")["enabled"].toBool());
  Touch("bf16");
  ASSERT_TRUE(WaitFor([this] { return Toggles()["planned"].toInt() == 1; }));
  EXPECT_TRUE(window_->busy());
  EXPECT_EQ(Toggles()["of"].toInt(), 3);
  EXPECT_THAT(Toggle("bf16")["saving"].toString().toStdString(), HasSubstr("2"));
  EXPECT_EQ(Toggles()["rows"].toArray()[0].toObject()["toggle"].toString(), "checkpointing")
      << "no row moves while others arrive";
  // Savings that have arrived must stay.
  FindToggles();
  EXPECT_FALSE(window_->busy());
  EXPECT_EQ(Toggles()["says"].toString(), "cancelled; 1 of 3 techniques are planned");
  EXPECT_EQ(Toggles()["rows"].toArray()[0].toObject()["toggle"].toString(), "bf16");
  EXPECT_THAT(Toggle("bf16")["saving"].toString().toStdString(), HasSubstr("2"));
  EXPECT_EQ(Toggle("offload")["explanation"].toString(), "not planned");
  // If a search is cancelled before any result, earlier results must stay as well.
  QFile::remove(Path("start"));
  FindToggles();
  FindToggles();
  EXPECT_EQ(Toggles()["says"].toString(), "cancelled");
  EXPECT_THAT(Toggle("bf16")["saving"].toString().toStdString(), HasSubstr("2"));
  Touch("start");
  Touch("end");
  FindToggles();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Toggles()["rows"].toArray().size(), 4);
  EXPECT_EQ(Toggles()["says"].toString(), "Without techniques, the program needs 4.00 GiB.");
  // If settings or the script have changed, the savings must be marked as outdated. A new search
  // must replace them.
  EXPECT_FALSE(Toggles()["outdated"].toBool());
  QTest::qWait(20);
  Script(std::string(kScript) + "# saved\n");
  Type("programArguments", QStringLiteral("x"));
  QTest::keyClick(Find<QLineEdit>("programArguments"), Qt::Key_Backspace);
  EXPECT_TRUE(Toggles()["outdated"].toBool());
  FindToggles();
  ASSERT_TRUE(Idle());
  EXPECT_FALSE(Toggles()["outdated"].toBool());
  window_->programPanel()->setDevice(QStringLiteral("h100-sxm"));
  EXPECT_TRUE(Toggles()["outdated"].toBool());
  QFile::remove(Path("start"));
  FindToggles();
  EXPECT_FALSE(Toggles()["outdated"].toBool());
  EXPECT_TRUE(Toggles()["rows"].toArray().isEmpty());
  FindToggles();
}

// The command's JSON is English. The page must show labels and reasons in the window's language.
TEST_F(ProgramStudies, LabelsAndReasonsAreTranslated) {
  std::string savings = kSavings;
  for (const auto& [from, to] : {std::pair("an allocation fails", "lora: the optimizer is SGD"),
                                 std::pair("no from_pretrained", "the optimizer is SGD")})
    savings.replace(savings.find(from), std::string(from).size(), to);
  std::erase(savings, '\n');
  Write("toggles.json", savings + "\n");
  window_->openProgram(Script(kScript));
  i18n::SetTranslator([](const std::string& english) -> std::string {
    if (english == "autocast") return "Autocast-Bereich";
    if (english == "the optimizer is {}") return "Optimierer: {}";
    return "";
  });
  FindToggles();
  EXPECT_TRUE(Idle());
  EXPECT_EQ(Toggle("bf16")["title"].toString(), "bf16 · Autocast-Bereich");
  EXPECT_EQ(Toggle("offload")["explanation"].toString(), "lora: Optimierer: SGD");
  EXPECT_THAT(Toggles()["others"].toString().toStdString(), HasSubstr("lora: Optimierer: SGD"));
  // When the language changes, rows that are already there must change, too.
  i18n::SetTranslator(nullptr);
  QEvent change(QEvent::LanguageChange);
  QApplication::sendEvent(window_->programPanel()->toggles(), &change);
  EXPECT_EQ(Toggle("bf16")["title"].toString(), "bf16 · autocast");
  EXPECT_EQ(Toggle("offload")["explanation"].toString(), "lora: the optimizer is SGD");
}

// A path is typed letter by letter. Each script must keep its own savings and switches.
TEST_F(ProgramStudies, EachScriptKeepsItsSavings) {
  const QString script = Script(kScript);
  window_->openProgram(script);
  FindToggles();
  ASSERT_TRUE(Idle());
  Switch("bf16");
  Type("programScript", Path("other.py"));
  EXPECT_TRUE(Toggles()["rows"].toArray().isEmpty()) << "these are techniques of another program";
  EXPECT_EQ(Toggles()["says"].toString(), "");
  EXPECT_THAT(PageText("command"), Not(HasSubstr("--toggle")));
  Type("programScript", script);
  EXPECT_EQ(Toggles()["rows"].toArray().size(), 4);
  EXPECT_TRUE(Toggle("bf16")["on"].toBool());
  EXPECT_THAT(PageText("command"), HasSubstr("--toggle bf16"));
  EXPECT_FALSE(Toggles()["outdated"].toBool());
}

TEST_F(ProgramStudies, SearchGoesOnWhileAnotherScriptIsInTheForm) {
  Write("toggles.sh", "while [ ! -e \"$here/go\" ]; do sleep 0.05; done\n");
  const QString script = Script(kScript);
  window_->openProgram(script);
  FindToggles();
  window_->openProgram(Path("other.py"));
  Touch("go");
  ASSERT_TRUE(Idle());
  EXPECT_TRUE(Toggles()["rows"].toArray().isEmpty());
  window_->openProgram(script);
  EXPECT_EQ(Toggles()["rows"].toArray().size(), 4);
}

TEST_F(ProgramStudies, SearchCanBeCancelledAndReportsErrors) {
  window_->openProgram(Script(kScript));
  Touch("slow");
  FindToggles();
  ASSERT_TRUE(WaitFor([this] { return !Commands().empty(); }));
  EXPECT_TRUE(window_->busy());
  FindToggles();  // the same button cancels
  EXPECT_FALSE(window_->busy());
  EXPECT_EQ(Toggles()["says"].toString(), "cancelled");
  QFile::remove(Path("slow"));
  Write("toggles.error", "vramscope: error: the script fails\n");
  FindToggles();
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Toggles()["says"].toString().toStdString(), HasSubstr("the script fails"));
}

TEST_F(ProgramStudies, SwitchPlansAtOnceAndThePreviousRunIsDrawnBehind) {
  Plan();
  FindToggles();
  ASSERT_TRUE(Idle());
  const auto before = window_->digest();
  Switch("bf16");
  EXPECT_TRUE(window_->busy());
  EXPECT_FALSE(Toggle("bf16")["enabled"].toBool()) << "the program runs";
  ASSERT_TRUE(Idle());
  EXPECT_EQ(PageText("error"), "");
  EXPECT_NE(window_->digest(), before);
  EXPECT_TRUE(window_->dumpState()["ghost"].toBool());
  EXPECT_EQ(window_->documents().size(), 1u);
  ASSERT_EQ(Active().history.entries().size(), 2u);
  EXPECT_EQ(Active().history.now()->change, "bf16 on");
  EXPECT_EQ(Active().source.program.toggles, std::vector<std::string>{"bf16"});
  Switch("bf16");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Active().history.now()->change, "bf16 off");
}

TEST_F(ProgramStudies, SwitchesKeepTheirPlacesWhileTheProgramIsPlanned) {
  Run(std::string("print('one\\ntwo\\nthree\\nfour')\n") + kScript);
  ASSERT_TRUE(Idle());
  FindToggles();
  ASSERT_TRUE(Idle());
  const auto place = [this] {
    QTest::qWait(50);  // for the layout
    return window_->programPanel()->toggles()->y();
  };
  const int before = place();
  Switch("bf16");
  ASSERT_TRUE(window_->programRunner()->busy());
  EXPECT_TRUE(Find<QToolButton>("programAgain")->isVisibleTo(window_->programPanel()));
  EXPECT_FALSE(Page("again").toBool()) << "it is there, but disabled";
  EXPECT_TRUE(Find<QPlainTextEdit>("programOutput")->isVisibleTo(window_->programPanel()));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(place(), before);
  EXPECT_TRUE(Page("again").toBool());
}

constexpr const char* kToggled =
    "about()\nchunk(3 if 'bf16' in os.environ.get('VRAMSCOPE_PROGRAM_TOGGLES', '') else 2)\n"
    "about(ended='end')\n";

TEST_F(ProgramStudies, UndoAndRedoOfASwitchShowItsResult) {
  Run(kToggled);
  ASSERT_TRUE(Idle());
  FindToggles();
  ASSERT_TRUE(Idle());
  Switch("bf16");
  ASSERT_TRUE(Idle());
  ASSERT_EQ(Blocks(), 3u);
  EXPECT_EQ(window_->dumpState()["undo"].toString(), "bf16 on");
  window_->undo();
  EXPECT_FALSE(window_->programRunner()->busy()) << "its result is known";
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_FALSE(Toggle("bf16")["on"].toBool());
  EXPECT_THAT(PageText("command"), Not(HasSubstr("--toggle")));
  EXPECT_EQ(Active().history.current(), 0u);
  EXPECT_TRUE(Active().source.program.toggles.empty());
  EXPECT_TRUE(window_->dumpState()["ghost"].toBool()) << "the run with the toggle is behind";
  window_->redo();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 3u);
  EXPECT_TRUE(Toggle("bf16")["on"].toBool());
  EXPECT_EQ(Active().history.entries().size(), 2u) << "no entry was added";
  EXPECT_EQ(Active().history.current(), 1u);
  // A click on an entry of the history must also set the switches.
  window_->showEntry(0);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_FALSE(Toggle("bf16")["on"].toBool());
  window_->undo();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 3u);
  EXPECT_TRUE(Toggle("bf16")["on"].toBool());
  // Undo must keep arguments that were typed in between, so this needs a new plan.
  Type("programArguments", QStringLiteral("--seed 1"));
  window_->undo();
  EXPECT_TRUE(window_->programRunner()->busy());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_EQ(Active().source.program.arguments, "--seed 1");
  EXPECT_EQ(Active().history.entries().size(), 3u);
}

TEST_F(ProgramStudies, UndoPlansAgainIfTheScriptWasSaved) {
  Run(kToggled);
  ASSERT_TRUE(Idle());
  FindToggles();
  ASSERT_TRUE(Idle());
  Switch("bf16");
  ASSERT_TRUE(Idle());
  QTest::qWait(1100);  // the history stores times in whole seconds
  Script("about()\nchunk(5)\nabout(ended='end')\n");
  window_->undo();
  EXPECT_TRUE(window_->programRunner()->busy());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 5u);
  EXPECT_EQ(Active().history.now()->change, "bf16 off");
}

TEST_F(ProgramStudies, UndoStopsThePlanOfTheSwitch) {
  Run("about()\nchunk(2)\nif 'bf16' in os.environ.get('VRAMSCOPE_PROGRAM_TOGGLES', ''):\n"
      "    wait('never')\nabout(ended='end')\n");
  ASSERT_TRUE(Idle());
  FindToggles();
  ASSERT_TRUE(Idle());
  Switch("bf16");
  ASSERT_TRUE(WaitFor([this] { return Running(); }));
  window_->undo();
  ASSERT_TRUE(WaitFor([this] { return !Toggle("bf16")["on"].toBool() && !window_->busy(); }));
  EXPECT_FALSE(Running());
  EXPECT_EQ(Active().history.entries().size(), 1u) << "a plan that was cut short is no result";
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_EQ(Active().history.current(), 0u);
  EXPECT_TRUE(Active().source.program.toggles.empty());
}

TEST_F(ProgramStudies, SwitchBeforeTheFirstPlanIsUndone) {
  window_->openProgram(Script(kToggled));
  FindToggles();
  ASSERT_TRUE(Idle());
  Switch("bf16");
  window_->undo();
  EXPECT_FALSE(Toggle("bf16")["on"].toBool());
  window_->redo();
  EXPECT_TRUE(Toggle("bf16")["on"].toBool());
  Click("programStart");
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->documents().size(), 1u);
  EXPECT_EQ(Blocks(), 3u);
  window_->undo();  // the step belongs to the plan's document
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Blocks(), 2u);
}

TEST_F(ProgramStudies, PagesOfModelAndProgramHaveTheSameControls) {
  const auto controls = [](QWidget* page) {
    QStringList out;
    for (const auto* edit : page->findChildren<QLineEdit*>())
      if (edit->objectName().endsWith(QLatin1String("Budget"))) out << edit->accessibleName();
    for (const auto* label : page->findChildren<QLabel*>())
      if (label->buddy() != nullptr) out << label->text();
    for (const auto* button : page->findChildren<QPushButton*>())
      if (!button->isHidden()) out << button->text();
    return out.join(QLatin1Char('|')).toStdString();
  };
  EXPECT_EQ(controls(window_->fitPage()), "Budget|Budget|Make it fit");
  EXPECT_EQ(controls(window_->programFitPage()), "Budget|Budget|Make it fit");
  EXPECT_THAT(controls(window_->waterfallPage()), StartsWith("Draw|Up|Down|"));
  EXPECT_THAT(controls(window_->programWaterfallPage()), StartsWith("Draw|Up|Down|"));
}

TEST_F(ProgramStudies, FitOfAProgramThatFitsProposesNothing) {
  Write("fit.json", R"({"budget": 100, "start": {"needed": 1073741824, "fits": true, "step_ms": 5},
    "proposals": [], "plans": 1, "seconds": 2.5, "cut_short": false})");
  Plan();
  window_->actionRegistry()->Find(QStringLiteral("run.fit"))->trigger();
  ASSERT_TRUE(Idle());
  EXPECT_EQ(State("program_fit")["proposals"].toInt(), 0);
  EXPECT_EQ(State("program_fit")["says"].toString().toStdString(), "The run already fits.");
}

TEST_F(ProgramStudies, FitProposalOpensAsADocument) {
  Write("fit.json", R"({"budget": 100, "start": {"needed": 4294967296, "fits": false, "step_ms": 5},
    "proposals": [{"needed": 1073741824, "step_ms": 4, "time_factor": 0.8, "fits": true, "changes": "rounding",
      "toggles": [{"name": "bf16", "value": null, "change": [{"text": "autocast", "where": "/x/train.py:3"}]},
                  {"name": "checkpointing", "value": null, "change": []}]}],
    "plans": 7, "seconds": 2.5, "cut_short": false})");
  Plan();
  const DocumentId first = Active().id();
  window_->actionRegistry()->Find(QStringLiteral("run.fit"))->trigger();
  EXPECT_TRUE(window_->programFitPage()->busy());
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Commands(),
              AllOf(StartsWith("fit --device rtx-4090 --budget "), HasSubstr("B --json -- ")));
  ASSERT_EQ(State("program_fit")["proposals"].toInt(), 1);
  EXPECT_THAT(State("program_fit")["says"].toString().toStdString(),
              HasSubstr("7 combinations planned"));
  window_->programFitPage()->open(0);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(PageText("error"), "");
  ASSERT_EQ(window_->documents().size(), 2u);
  EXPECT_EQ(Active().Title(), "train.py · bf16 + checkpointing");
  EXPECT_EQ(Active().source.program.toggles, (std::vector<std::string>{"bf16", "checkpointing"}));
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_TRUE(window_->dumpState()["baseline"].toBool());
  EXPECT_TRUE(window_->dumpState()["ghost"].toBool());
  // The program's own document must still be there, and the proposal must not be planned twice.
  window_->showDocument(first);
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Active().history.entries().size(), 1u);
  EXPECT_TRUE(Active().source.program.toggles.empty());
  window_->programFitPage()->open(0);
  EXPECT_FALSE(window_->programRunner()->busy());
  EXPECT_EQ(window_->documents().size(), 2u);
  EXPECT_NE(Active().id(), first);
}

TEST_F(ProgramStudies, PointOfTheChartOpensItsPlan) {
  Write("fit.json", R"({"budget": 3000000000, "vary": ["--batch"], "rows": [
    {"values": ["1"], "peak": 1000000000, "reserved": 1100000000, "needed": 1500000000, "step_ms": 3, "fits": true, "error": null},
    {"values": ["2"], "peak": 2000000000, "reserved": 2100000000, "needed": 2500000000, "step_ms": 5, "fits": true, "error": null},
    {"values": ["4"], "peak": 4000000000, "reserved": 4100000000, "needed": 4500000000, "step_ms": 9, "fits": false, "error": null},
    {"values": ["8"], "error": "an assertion fails"}],
    "largest": 2, "plans": 4, "seconds": 1.5})");
  window_->openProgram(Script(kScript));
  window_->openPage(QStringLiteral("vary"));
  window_->varyPage()->vary();
  EXPECT_FALSE(window_->busy());
  EXPECT_THAT(State("vary")["says"].toString().toStdString(), HasSubstr("Enter an argument"));
  auto* argument = window_->varyPage()->findChild<QLineEdit*>(QStringLiteral("varyArgument"));
  argument->setText(QStringLiteral("--batch"));
  window_->varyPage()->vary();
  EXPECT_FALSE(window_->busy()) << "it has no values";
  Plan();
  window_->openPage(QStringLiteral("vary"));
  argument->setText(QStringLiteral("--batch=1..8"));
  window_->varyPage()->vary();
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Commands(), HasSubstr("--vary=--batch=1..8 --budget "));
  EXPECT_THAT(State("vary")["says"].toString().toStdString(),
              HasSubstr("largest --batch that fits is 2"));
  EXPECT_EQ(State("vary")["table"].toObject()["rows"].toInt(), 4);
  auto* chart = static_cast<VaryChart*>(
      window_->varyPage()->findChild<QWidget*>(QStringLiteral("varyChart")));
  ASSERT_NE(chart, nullptr);
  ASSERT_TRUE(WaitFor([chart] { return chart->isVisible() && chart->height() > 50; }));
  EXPECT_GT(chart->position(0).y(), chart->position(1).y()) << "more bytes are higher";
  QTest::mouseClick(chart, Qt::LeftButton, Qt::NoModifier, chart->position(1).toPoint());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(PageText("error"), "");
  ASSERT_EQ(window_->documents().size(), 2u);
  EXPECT_EQ(Active().Title(), "train.py · --batch=2");
  EXPECT_EQ(Active().source.program.arguments, "--batch 2");
  EXPECT_TRUE(window_->dumpState()["ghost"].toBool());
  // The chart must stay, and the next point must be based on the same program.
  QTest::mouseClick(chart, Qt::LeftButton, Qt::NoModifier, chart->position(2).toPoint());
  ASSERT_TRUE(Idle());
  EXPECT_EQ(window_->documents().size(), 3u);
  EXPECT_EQ(Active().source.program.arguments, "--batch 4");
  // It must be possible to choose a point with the keyboard, too.
  chart->setFocus();
  QTest::keyClick(chart, Qt::Key_Left);
  QTest::keyClick(chart, Qt::Key_Return);
  EXPECT_EQ(Active().source.program.arguments, "--batch 2");
  EXPECT_EQ(window_->documents().size(), 3u);
}

// If the whole range fits, its end must not be called the largest value that fits.
TEST_F(ProgramStudies, RangeThatFitsCompletelySaysSo) {
  Write("fit.json", R"({"budget": 3000000000, "vary": ["--batch"], "rows": [
    {"values": ["1"], "peak": 1000000000, "reserved": 1100000000, "needed": 1500000000, "step_ms": 3, "fits": true, "error": null},
    {"values": ["2"], "peak": 2000000000, "reserved": 2100000000, "needed": 2500000000, "step_ms": 5, "fits": true, "error": null}],
    "largest": 2, "plans": 2, "seconds": 1.5})");
  window_->openProgram(Script(kScript));
  window_->openPage(QStringLiteral("vary"));
  window_->varyPage()
      ->findChild<QLineEdit*>(QStringLiteral("varyArgument"))
      ->setText(QStringLiteral("--batch=1..2"));
  window_->varyPage()->vary();
  ASSERT_TRUE(Idle());
  EXPECT_THAT(State("vary")["says"].toString().toStdString(),
              StartsWith("Every --batch up to 2 fits."));
}

TEST_F(ProgramStudies, SavedFileIsPlannedAgain) {
  const auto script = [](int blocks) {
    return "about(sources=[here + '/model.py'])\nchunk(" + std::to_string(blocks) +
           ")\nabout(ended='end', sources=[here + '/model.py'])\n";
  };
  Write("model.py", "a = 1\n");
  window_->openProgram(Script(script(2)));
  auto* watch = Find<QAbstractButton>("programWatch");
  watch->click();
  EXPECT_TRUE(Page("watches").toBool());
  EXPECT_FALSE(window_->busy()) << "nothing starts before the first plan";
  Run(script(2));
  ASSERT_TRUE(Idle());
  ASSERT_EQ(Blocks(), 2u) << PageText("error");
  Script(script(3));
  ASSERT_TRUE(WaitFor([this] { return Blocks() == 3 && !window_->busy(); }));
  EXPECT_EQ(window_->documents().size(), 1u);
  ASSERT_EQ(Active().history.entries().size(), 2u);
  EXPECT_EQ(Active().history.now()->change, "train.py saved");
  // A change of a module that the program imports must start a plan, too.
  QTest::qWait(1000);
  Write("model.py", "a = 22\n");
  ASSERT_TRUE(WaitFor([this] { return Active().history.entries().size() == 3; }));
  ASSERT_TRUE(Idle());
  EXPECT_EQ(Active().history.now()->change, "model.py saved");
  watch->click();
  Script(script(4));
  QTest::qWait(1500);
  EXPECT_FALSE(window_->busy());
  EXPECT_EQ(Blocks(), 3u);
}

TEST_F(ProgramStudies, WaterfallHasABarForEachTechniqueThatIsOn) {
  Write("waterfall.json", R"({"bars": [
    {"name": "baseline", "toggle": null, "peak": 4000000000, "reserved": 4100000000, "step_ms": 4},
    {"name": "checkpointing", "toggle": "checkpointing", "peak": 3000000000, "reserved": 3100000000, "step_ms": 5},
    {"name": "bf16", "toggle": "bf16", "peak": 2000000000, "reserved": 2100000000, "step_ms": 3}], "plans": 3})");
  Plan();
  window_->openPage(QStringLiteral("waterfall"));
  window_->programWaterfallPage()->draw();
  EXPECT_FALSE(window_->busy());
  EXPECT_THAT(State("program_waterfall")["says"].toString().toStdString(),
              HasSubstr("No technique is switched on"));
  FindToggles();
  ASSERT_TRUE(Idle());
  Switch("checkpointing");
  ASSERT_TRUE(Idle());
  Switch("bf16");
  ASSERT_TRUE(Idle());
  window_->programWaterfallPage()->draw();
  ASSERT_TRUE(Idle());
  EXPECT_THAT(Commands(), HasSubstr("waterfall --device rtx-4090 --toggle checkpointing --toggle "
                                    "bf16 --json -- "));
  EXPECT_EQ(State("program_waterfall")["order"].toArray(), (QJsonArray{"checkpointing", "bf16"}));
  EXPECT_EQ(State("program_waterfall")["table"].toObject()["rows"].toInt(), 3);
}

}  // namespace
}  // namespace vramscope::ui
