// Tests commands that the window runs. Cancel must return at once, even if the command does not
// end.
#include "ui/studies/command_runner.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <QCoreApplication>
#include <QFile>
#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "profiler/base/i18n.h"
#include "ui/language/language.h"

namespace vramscope::ui {
namespace {

class CommandRunnerTest : public ::testing::Test {
 protected:
  // Writes a script that is run instead of vramscope. Returns its path.
  QString Program(const QByteArray& script) {
    QFile file(folder_.filePath(QStringLiteral("program.sh")));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n" + script);
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file.fileName();
  }
  QByteArray Read(const char* name) {
    QFile file(folder_.filePath(QLatin1String(name)));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }

  QTemporaryDir folder_;
};

TEST_F(CommandRunnerTest, DeliversJsonOutput) {
  CommandRunner runner(Program("echo '{\"answer\": 42}'\n"), {});
  QJsonObject result;
  QString error = QStringLiteral("nothing came");
  QObject::connect(&runner, &CommandRunner::ended,
                   [&](const QJsonObject& json, const QString& why) {
                     result = json;
                     error = why;
                   });
  runner.run({QStringLiteral("info")});
  EXPECT_TRUE(runner.busy());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !runner.busy(); }));
  EXPECT_EQ(error, QString());
  EXPECT_EQ(result[QLatin1String("answer")].toInt(), 42);
}

TEST_F(CommandRunnerTest, LinesArriveBeforeTheResult) {
  const QByteArray file = folder_.filePath(QStringLiteral("go")).toUtf8();
  CommandRunner runner(Program("echo '{\"part\": 1}'\nwhile [ ! -e " + file +
                               " ]; do sleep 0.05; done\necho '{\"part\": 2}'\nprintf "
                               "'{\"answer\": 42}'\necho\n"),
                       {});
  QList<QJsonObject> parts;
  QJsonObject result;
  QObject::connect(&runner, &CommandRunner::arrived,
                   [&](const QJsonObject& part) { parts << part; });
  QObject::connect(&runner, &CommandRunner::ended,
                   [&](const QJsonObject& json, const QString&) { result = json; });
  runner.run({QStringLiteral("toggles"), QStringLiteral("--json-lines")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return parts.size() == 1; }));
  EXPECT_TRUE(runner.busy());
  QFile go(QString::fromUtf8(file));
  ASSERT_TRUE(go.open(QIODevice::WriteOnly));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !runner.busy(); }));
  ASSERT_EQ(parts.size(), 3);
  EXPECT_EQ(parts[1][QLatin1String("part")].toInt(), 2);
  EXPECT_EQ(result[QLatin1String("answer")].toInt(), 42);
}

TEST_F(CommandRunnerTest, ProgramFollowsTheOptionsAndStartsInItsFolder) {
  CommandRunner runner(
      Program("printf '{\"words\": \"%s\", \"folder\": \"%s\"}' \"$*\" \"$PWD\"\n"), {});
  QJsonObject result;
  QObject::connect(&runner, &CommandRunner::ended,
                   [&](const QJsonObject& json, const QString&) { result = json; });
  runner.run(
      {QStringLiteral("fit")}, {},
      {.words = {QStringLiteral("python3"), QStringLiteral("train.py")}, .folder = folder_.path()});
  ASSERT_TRUE(QTest::qWaitFor([&] { return !runner.busy(); }));
  EXPECT_EQ(result[QLatin1String("words")].toString(),
            QStringLiteral("fit --json -- python3 train.py"));
  EXPECT_EQ(result[QLatin1String("folder")].toString(), folder_.path());
}

TEST_F(CommandRunnerTest, ResultOfFailedPlansIsDelivered) {
  const auto ended = [](CommandRunner& runner) {
    std::pair<QJsonObject, QString> out;
    QObject::connect(&runner, &CommandRunner::ended,
                     [&](const QJsonObject& json, const QString& why) {
                       out = {json, why};
                     });
    runner.run({QStringLiteral("fit")});
    EXPECT_TRUE(QTest::qWaitFor([&] { return !runner.busy(); }));
    return out;
  };
  CommandRunner says_why(Program("echo '{\"rows\": [1]}'\nexit 3\n"), {});
  EXPECT_EQ(ended(says_why).first[QLatin1String("rows")].toArray().size(), 1);
  CommandRunner fails(Program("echo 'vramscope: error: no' >&2\nexit 3\n"), {});
  const auto [none, why] = ended(fails);
  EXPECT_TRUE(none.isEmpty());
  EXPECT_EQ(why, QStringLiteral("no"));
}

TEST_F(CommandRunnerTest, TextsOfTheJsonAreTranslated) {
  i18n::SetTranslator([](const std::string& english) -> std::string {
    return english == "no matrix of scores" ? "NO MATRIX" : "";
  });
  const QJsonObject json{{"why", "no matrix of scores"}, {"title", "other"}};
  EXPECT_EQ(ShownText(json, "why"), "NO MATRIX");
  EXPECT_EQ(ShownText(json, "title"), "other");
  EXPECT_EQ(ShownText(json, "none"), "");
  i18n::SetTranslator(nullptr);
}

TEST_F(CommandRunnerTest, ErrorsAreInTheLanguageOfTheWindow) {
  if (!Languages().contains(Language::kChinese)) GTEST_SKIP() << "built without translations";
  CommandRunner fails(Program("echo \"vramscope: 错误：$*\" >&2\nexit 3\n"), {});
  QString error;
  QObject::connect(&fails, &CommandRunner::ended,
                   [&](const QJsonObject&, const QString& why) { error = why; });
  SetLanguage(Language::kChinese);
  fails.run({QStringLiteral("fit")});
  EXPECT_TRUE(QTest::qWaitFor([&] { return !fails.busy(); }));
  SetLanguage(Language::kEnglish);
  EXPECT_EQ(error, QStringLiteral("fit --json --lang zh_CN"));
}

TEST_F(CommandRunnerTest, ReplacedCommandDoesNotEmitEnded) {
  CommandRunner runner(Program("[ $1 = fit ] && exec sleep 600\necho '{\"answer\": 42}'\n"), {});
  QStringList errors;
  QObject::connect(&runner, &CommandRunner::ended,
                   [&](const QJsonObject&, const QString& why) { errors << why; });
  runner.run({QStringLiteral("fit")});
  runner.run({QStringLiteral("info")});
  EXPECT_TRUE(errors.isEmpty());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !runner.busy(); }));
  EXPECT_EQ(errors, QStringList{QString()}) << "only the second command emits ended()";
}

TEST_F(CommandRunnerTest, CancelDoesNotWaitForTheCommand) {
  const QByteArray file = folder_.filePath(QStringLiteral("pid")).toUtf8();
  CommandRunner runner(Program("trap '' INT\necho $$ > " + file + ".new && mv " + file + ".new " +
                               file + "\nexec sleep 600\n"),
                       {});
  QString error;
  QObject::connect(&runner, &CommandRunner::ended,
                   [&](const QJsonObject&, const QString& why) { error = why; });
  runner.run({QStringLiteral("fit")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return !Read("pid").isEmpty(); }));
  const pid_t pid = Read("pid").trimmed().toInt();
  ASSERT_GT(pid, 0);
  runner.cancel();
  EXPECT_FALSE(runner.busy());
  EXPECT_EQ(error, QStringLiteral("cancelled"));
  EXPECT_EQ(kill(pid, 0), 0) << "cancel() waited until the command ended";
  // If the process does not end, it must be killed after a while.
  ASSERT_TRUE(QTest::qWaitFor([&] { return kill(pid, 0) != 0; }, 60'000));
}

TEST_F(CommandRunnerTest, EndsWithTheWindow) {
  QProcess window;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  const QString script = Program("echo $$ > '" + folder_.filePath(QStringLiteral("pid")).toUtf8() +
                                 "'\nexec sleep 600\n");
  environment.insert(QStringLiteral("VRAMSCOPE_TEST_COMMAND"), script);
  window.setProcessEnvironment(environment);
  window.start(QCoreApplication::applicationFilePath());
  ASSERT_TRUE(QTest::qWaitFor([&] { return Read("pid").endsWith('\n'); }, 30'000));
  const QString status = QStringLiteral("/proc/%1/stat").arg(Read("pid").trimmed().toInt());
  const auto runs = [&] {
    QFile file(status);
    return file.open(QIODevice::ReadOnly) && !file.readAll().contains(") Z ");
  };
  EXPECT_TRUE(runs());
  window.kill();
  ASSERT_TRUE(window.waitForFinished());
  EXPECT_TRUE(QTest::qWaitFor([&] { return !runs(); }, 10'000));
}

}  // namespace
}  // namespace vramscope::ui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  QCoreApplication application(argc, argv);
  // EndsWithTheWindow starts this program a second time, as the window that is killed.
  if (const QString script = qEnvironmentVariable("VRAMSCOPE_TEST_COMMAND"); !script.isEmpty()) {
    vramscope::ui::CommandRunner runner(script, {});
    runner.run({QStringLiteral("fit")});
    return QCoreApplication::exec();
  }
  return RUN_ALL_TESTS();
}
