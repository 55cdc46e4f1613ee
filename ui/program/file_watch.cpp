#include "ui/program/file_watch.h"

#include <QFile>
#include <utility>

namespace vramscope::ui {
namespace {

constexpr int kPollMs = 300;

struct Looked {
  program::SavedFiles files;
  std::vector<std::string> saved;
};

}  // namespace

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
  connect(&poll_, &QTimer::timeout, this, &FileWatch::Poll);
}

void FileWatch::start(const program::Request& request) {
  const absl::StatusOr<std::vector<std::string>> command = program::CommandOf(request);
  if (!command.ok()) return stop();
  const std::string folder = program::FolderOf(request);
  if (active() && *command == command_ && folder == folder_) return;
  stop();
  command_ = *command;
  folder_ = folder;
  to_add_.clear();
  files_ = {};
  files_.AddNamedIn(command_, folder_);
  poll_.start(kPollMs);
}

void FileWatch::add(const QStringList& paths) {
  for (const QString& path : paths) to_add_.push_back(QFile::encodeName(path).toStdString());
}

void FileWatch::stop() {
  poll_.stop();
  looking_.cancel();
  saved_.clear();
}

void FileWatch::Poll() {
  if (looking_.busy()) return;
  looking_.Ask(
      [files = files_, add = std::exchange(to_add_, {})]() mutable {
        Looked looked{.files = std::move(files), .saved = {}};
        looked.saved = looked.files.Take();
        for (const std::string& path : add) looked.files.Add(path);
        return looked;
      },
      [this](const absl::StatusOr<Looked>& looked) {
        if (!looked.ok() || !active()) return;
        files_ = looked->files;
        for (const std::string& path : looked->saved)
          if (const QString name = QFile::decodeName(path.c_str()); !saved_.contains(name))
            saved_ << name;
        if (looked->saved.empty() && !saved_.isEmpty()) Q_EMIT saved(std::exchange(saved_, {}));
      },
      {.blocks = true});
}

}  // namespace vramscope::ui
