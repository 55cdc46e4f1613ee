// Runs a command of `vramscope` in a process of its own and hands over its JSON: what the window
// asks for is what a script would ask for.
//
//   runner->run({"fit", "--budget", "24GiB"}, run::ToJson(config));
//   connect(runner, &CommandRunner::ended, page, ...);
//
// UI thread only (Qt Core). What runs is stopped when the runner goes.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTemporaryFile>
#include <memory>
#include <string>

namespace vramscope::ui {

class CommandRunner : public QObject {
  Q_OBJECT
 public:
  CommandRunner(QString vramscope, QString worker, QObject* parent = nullptr);
  ~CommandRunner() override;

  // With --json; `config`, when there is one, as a run.json behind --config. Replaces a command
  // that still runs.
  void run(const QStringList& arguments, const std::string& config = {});
  void cancel();
  bool busy() const;

 Q_SIGNALS:
  // `error` empty: done, and `result` is its JSON.
  void ended(const QJsonObject& result, const QString& error);

 private:
  void Ended(int code, QProcess::ExitStatus status);
  QString vramscope_, worker_;
  std::unique_ptr<QProcess> process_;
  std::unique_ptr<QTemporaryFile> config_;
};

}  // namespace vramscope::ui
