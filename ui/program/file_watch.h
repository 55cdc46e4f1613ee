// Reports when files of a program have been saved. The window then plans the program again.
//
//   watch->start(request);                  // its script and the files named in its arguments
//   watch->add(end.sources);                // the program's own modules
//   connect(watch, &FileWatch::saved, ...);
//
// UI thread only. A pool thread checks the files.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <string>
#include <vector>

#include "profiler/program/request.h"
#include "profiler/program/saved_files.h"
#include "ui/jobs/jobs.h"

namespace vramscope::ui {

class FileWatch : public QObject {
  Q_OBJECT
 public:
  explicit FileWatch(QObject* parent = nullptr);
  // If the object already watches this request, the files that were added by add() stay watched.
  void start(const program::Request& request);
  void add(const QStringList& paths);
  void stop();
  bool active() const { return poll_.isActive(); }

 Q_SIGNALS:
  // Emitted after a pause in saving, because an editor may save several files, each of them in
  // several steps.
  void saved(const QStringList& paths);

 private:
  void Poll();
  QTimer poll_;
  std::vector<std::string> command_;
  std::string folder_;
  program::SavedFiles files_;
  std::vector<std::string> to_add_;
  QStringList saved_;  // saved files that were not reported yet
  Jobs looking_;
};

}  // namespace vramscope::ui
