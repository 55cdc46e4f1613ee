#include "ui/shell/kept_results.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include "profiler/base/i18n.h"

namespace vramscope::ui {
namespace {

constexpr qsizetype kLongestName = 60;
constexpr int kTries = 1000;

}  // namespace

QString StoredResults::DefaultFolder() {
  // Ignore a relative path, as the XDG specification requires.
  QString state = QFile::decodeName(qgetenv("XDG_STATE_HOME"));
  if (!QDir::isAbsolutePath(state)) state = QDir::homePath() + QStringLiteral("/.local/state");
  return state + QStringLiteral("/vramscope/results");
}

bool StoredResults::Has(const QString& path) const {
  return QFileInfo(path).absolutePath() == QDir(folder_).absolutePath();
}

absl::StatusOr<QString> StoredResults::NewPath(const QString& name) const {
  const QFileInfo folder(folder_);
  if (!folder.isDir()) {
    if (!QDir().mkpath(folder_))
      return absl::UnavailableError(
          i18n::Format("the folder '{}' could not be created", folder_.toStdString()));
    QFile::setPermissions(folder_,
                          QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
  }
  QString safe = name;
  static const QRegularExpression other(QStringLiteral("[^A-Za-z0-9._-]+"));
  safe.replace(other, QStringLiteral("-"));
  safe.truncate(kLongestName);
  while (safe.startsWith(QLatin1Char('.'))) safe.remove(0, 1);
  if (safe.isEmpty()) safe = QStringLiteral("result");
  const QString base = QDir(folder_).absoluteFilePath(QStringLiteral("%1-%2").arg(
      safe, QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"))));
  for (int i = 1; i <= kTries; ++i) {
    const QString path =
        i == 1 ? base + QStringLiteral(".trace") : QStringLiteral("%1-%2.trace").arg(base).arg(i);
    // Create the file now, because another window may choose a name in the same second as this one.
    QFile file(path);
    if (file.open(QIODevice::WriteOnly | QIODevice::NewOnly)) return path;
    if (!file.exists())
      return absl::UnavailableError("'" + path.toStdString() +
                                    "': " + file.errorString().toStdString());
  }
  return absl::UnavailableError(
      i18n::Format("every file name that was tried in '{}' is taken", folder_.toStdString()));
}

QStringList StoredResults::Prune() const {
  QStringList removed;
  qint64 bytes = 0;
  int count = 0;
  const QFileInfoList files =
      QDir(folder_).entryInfoList({QStringLiteral("*.trace")}, QDir::Files, QDir::Time);
  for (const QFileInfo& file : files) {  // newest first
    bytes += file.size();
    ++count;
    if (count == 1 || (count <= kMostResults && bytes <= kMostBytes)) continue;
    if (QFile::remove(file.absoluteFilePath())) removed << file.absoluteFilePath();
  }
  return removed;
}

}  // namespace vramscope::ui
