#include "ui/shell/session_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QSaveFile>

#include "ui/documents/saved_documents.h"

namespace vramscope::ui {
namespace {

QByteArray ReadSaved(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > static_cast<qint64>(kMostSavedBytes))
    return {};
  return file.readAll();
}

// Returns an error message, or "" if there was no error.
QString WriteSaved(const QString& path, const QByteArray& json) {
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly)) {
    file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner);
    if (file.write(json) == json.size() && file.commit()) return {};
  }
  return QStringLiteral("%1: %2").arg(path, file.errorString());
}

QString LeftOf(const QString& path) { return path + QStringLiteral(".left"); }

}  // namespace

SessionFile::SessionFile(const QString& folder, QObject* parent) : QObject(parent) {
  if (!QDir().mkpath(folder)) return;
  // Use the first file that no open window has locked.
  for (int i = 1; i <= kMostWindows && lock_ < 0; ++i) {
    const QString path = QDir(folder).absoluteFilePath(QStringLiteral("session-%1.json").arg(i));
    const QByteArray name = QFile::encodeName(path + QStringLiteral(".lock"));
    const int lock = ::open(name.constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return;
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      ::close(lock);
      continue;
    }
    lock_ = lock;
    path_ = path;
  }
  if (path_.isEmpty()) return;
  unrestored_ = ReadSaved(LeftOf(path_));
  left_ = ReadSaved(path_);
}

SessionFile::~SessionFile() {
  flush();
  if (lock_ >= 0) ::close(lock_);
}

void SessionFile::keepLeft(const QByteArray& session) {
  if (path_.isEmpty()) return;
  if (WriteSaved(LeftOf(path_), session).isEmpty())
    QFile::remove(path_);
  else if (unrestored_.isEmpty())
    // The write has failed, for example because the disk is full. A rename may still work.
    QFile::rename(path_, LeftOf(path_));
}

void SessionFile::forgetLeft() {
  left_.clear();
  unrestored_.clear();
  if (!path_.isEmpty()) QFile::remove(LeftOf(path_));
}

void SessionFile::save(Make json) {
  if (path_.isEmpty()) return;
  jobs_.Ask([path = path_, json = std::move(json)] { return WriteSaved(path, json()); },
            [this](const absl::StatusOr<QString>& error) {
              error_ = error.ok() ? *error : QStringLiteral("out of memory");
              if (!jobs_.busy()) Q_EMIT written();
            },
            {.earlier = Earlier::kShown, .blocks = true});
}

void SessionFile::flush() { jobs_.finish(); }

}  // namespace vramscope::ui
