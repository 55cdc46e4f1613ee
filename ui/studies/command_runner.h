// Runs a command of `vramscope` in a separate process and returns the command's JSON. So the window
// uses the same commands that scripts use.
//
//   runner->run({"fit", "--budget", "24GiB"}, run::ToJson(config));
//   connect(runner, &CommandRunner::ended, page, ...);
//
// UI thread only (Qt Core). The destructor stops a running command.
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTemporaryFile>
#include <memory>
#include <string>

namespace vramscope::ui {

// The program that a command plans: the words after "--", and the folder in which the program
// starts.
struct CommandProgram {
  QStringList words = {};
  QString folder = {};
};

class CommandRunner : public QObject {
  Q_OBJECT
 public:
  CommandRunner(QString vramscope, QString worker, QObject* parent = nullptr);
  ~CommandRunner() override;

  // Runs the command with --json. If `config` is not empty, writes it to a temporary run.json and
  // adds --config. If another command is still running, first stops it, without emitting ended().
  void run(const QStringList& arguments, const std::string& config = {},
           const CommandProgram& program = {});
  void cancel();
  bool busy() const;

 Q_SIGNALS:
  // Emitted for each object that a command with --json-lines has printed. The last object is also
  // the result.
  void arrived(const QJsonObject& part);
  // If `error` is empty, the command has succeeded, and `result` is its JSON.
  void ended(const QJsonObject& result, const QString& error);

 private:
  bool Stop();
  void TakeLines();
  void Ended(int code, QProcess::ExitStatus status);
  QString vramscope_, worker_;
  std::unique_ptr<QProcess> process_;
  bool by_lines_ = false;
  QByteArray said_;  // all output; if by_lines_, only the line that is not finished yet
  QJsonObject last_;
  std::unique_ptr<QTemporaryFile> config_;
};

// Returns the text of a command's JSON at `key`. The JSON is in English, and the returned text is
// translated.
std::string ShownText(const QJsonObject& json, const char* key);

}  // namespace vramscope::ui
