#include "ui/studies/command_runner.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <QJsonDocument>
#include <QTimer>
#include <utility>

#include "profiler/base/i18n.h"
#include "ui/language/language.h"

namespace vramscope::ui {
namespace {

constexpr int kStopMs = 3'000;  // time between SIGINT and SIGKILL
constexpr int kGoneMs = 300;    // maximum time of each wait in the destructor
constexpr int kNo = 1;          // exit code of a negative result, which also has JSON

}  // namespace

CommandRunner::CommandRunner(QString vramscope, QString worker, QObject* parent)
    : QObject(parent), vramscope_(std::move(vramscope)), worker_(std::move(worker)) {}

CommandRunner::~CommandRunner() {
  if (process_ == nullptr) return;
  // Stop the process and wait for its end, because this program may exit directly afterwards.
  process_->disconnect(this);
  if (process_->processId() > 0) ::kill(static_cast<pid_t>(process_->processId()), SIGINT);
  if (!process_->waitForFinished(kGoneMs)) process_->kill();
  if (process_->waitForFinished(kGoneMs)) return;
  connect(process_.get(), &QProcess::finished, process_.get(), &QObject::deleteLater);
  process_.release();
}

bool CommandRunner::busy() const { return process_ != nullptr; }

void CommandRunner::run(const QStringList& arguments, const std::string& config,
                        const CommandProgram& program) {
  Stop();
  if (vramscope_.isEmpty()) {
    Q_EMIT ended({}, tr("'vramscope' was not found next to this program or on the PATH; build "
                        "vramscope with ./vramscope, or add its folder to the PATH"));
    return;
  }
  QStringList words = arguments;
  if (!config.empty()) {
    config_ = std::make_unique<QTemporaryFile>();
    if (!config_->open() || config_->write(config.data(), static_cast<qint64>(config.size())) < 0 ||
        !config_->flush()) {
      Q_EMIT ended({}, tr("cannot write a temporary file: %1").arg(config_->errorString()));
      return;
    }
    words << QStringLiteral("--config") << config_->fileName();
  }
  words << QStringLiteral("--json");
  if (CurrentLanguage() != Language::kEnglish)  // the language of the error messages
    words << QStringLiteral("--lang") << LanguageName(CurrentLanguage());
  if (!program.words.isEmpty()) words << QStringLiteral("--") << program.words;
  by_lines_ = arguments.contains(QStringLiteral("--json-lines"));
  said_.clear();
  last_ = {};
  process_ = std::make_unique<QProcess>();
  connect(process_.get(), &QProcess::readyReadStandardOutput, this, &CommandRunner::TakeLines);
  if (!program.folder.isEmpty()) process_->setWorkingDirectory(program.folder);
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  if (!worker_.isEmpty()) environment.insert(QStringLiteral("VRAMSCOPE_WORKER"), worker_);
  process_->setProcessEnvironment(environment);
  connect(process_.get(), &QProcess::finished, this, &CommandRunner::Ended);
  connect(process_.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) Ended(-1, QProcess::CrashExit);
  });
  // If the window is killed, the command ends, too. It then ends the programs that it has started.
  process_->setChildProcessModifier([window = ::getpid()] {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != window) ::_exit(1);  // it was killed before the call
  });
  process_->start(vramscope_, words);
}

// Does not wait for the end of the process. If the process still runs after kStopMs, it is killed.
// Its QProcess object deletes itself.
void CommandRunner::cancel() {
  if (Stop()) Q_EMIT ended({}, tr("cancelled"));
}

// Stops the process without emitting ended(). Returns false if there was no process.
bool CommandRunner::Stop() {
  if (process_ == nullptr) return false;
  QProcess* process = process_.release();
  process->disconnect(this);
  if (process->state() == QProcess::NotRunning) {
    process->deleteLater();
  } else {
    connect(process, &QProcess::finished, process, &QObject::deleteLater);
    connect(process, &QProcess::errorOccurred, process, [process](QProcess::ProcessError error) {
      if (error == QProcess::FailedToStart) process->deleteLater();
    });
    // Keep the configuration file until the process ends, because the process may not have read it
    // yet.
    if (config_ != nullptr) config_.release()->setParent(process);
    if (process->processId() > 0) ::kill(static_cast<pid_t>(process->processId()), SIGINT);
    QTimer::singleShot(kStopMs, process, &QProcess::kill);
  }
  return true;
}

void CommandRunner::TakeLines() {
  const QProcess* const process = process_.get();
  if (process == nullptr) return;
  said_ += process_->readAllStandardOutput();
  if (!by_lines_) return;
  for (qsizetype end = said_.indexOf('\n'); end >= 0; end = said_.indexOf('\n')) {
    const QJsonObject part = QJsonDocument::fromJson(said_.first(end)).object();
    said_.remove(0, end + 1);
    if (part.isEmpty()) continue;
    last_ = part;
    Q_EMIT arrived(part);
    if (process_.get() != process) return;  // the process was cancelled or replaced
  }
}

void CommandRunner::Ended(int code, QProcess::ExitStatus status) {
  const QProcess* const ending = process_.get();
  TakeLines();
  if (ending == nullptr || process_.get() != ending) return;
  // Delete the QProcess later, because its signals may still be queued.
  QProcess* process = process_.release();
  process->deleteLater();
  QString error = QString::fromUtf8(process->readAllStandardError()).trimmed();
  error = WithoutErrorPrefix(std::move(error));
  const QJsonObject result = by_lines_ ? last_ : QJsonDocument::fromJson(said_).object();
  // If all plans of the command failed, it has yet another exit code, and its JSON states the
  // reason.
  if (status == QProcess::NormalExit && (code == 0 || code == kNo || error.isEmpty()) &&
      !result.isEmpty()) {
    Q_EMIT ended(result, {});
    return;
  }
  Q_EMIT ended({}, error.isEmpty() ? tr("cannot run '%1'").arg(vramscope_) : error);
}

std::string ShownText(const QJsonObject& json, const char* key) {
  return i18n::Shown(json.value(QLatin1String(key)).toString().toStdString());
}

}  // namespace vramscope::ui
