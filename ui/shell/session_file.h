// The file with the saved documents of a window. While the window is open, a pool thread writes the
// file atomically. If the window is killed, the next window finds the file it left. Each open
// window has a separate file and locks it. The system releases the lock when the window's process
// ends.
//
//   SessionFile file(folder);
//   if (!file.left().isEmpty()) Offer(file.left());   // what a killed window had open
//   file.save([session] { return QByteArray::fromStdString(ToJson(session)); });
//
// UI thread only.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>
#include <functional>

#include "ui/jobs/jobs.h"

namespace vramscope::ui {

class SessionFile : public QObject {
  Q_OBJECT
 public:
  static constexpr int kMostWindows = 16;

  explicit SessionFile(const QString& folder, QObject* parent = nullptr);
  ~SessionFile() override;  // waits for pending writes

  // The JSON that the previous window with this file last wrote to it. Empty if there is none.
  const QByteArray& left() const { return left_; }
  // The JSON that an earlier window stored by keepLeft() and that has not been restored yet. Empty
  // if there is none.
  const QByteArray& unrestored() const { return unrestored_; }
  // Stores `session`, which must contain left() and unrestored(), in a second file until
  // forgetLeft() is called.
  void keepLeft(const QByteArray& session);
  void forgetLeft();

  // Calls `json` on a pool thread and writes the result. If an earlier call's result has not been
  // written yet, only that of the later call is written.
  using Make = std::function<QByteArray()>;
  void save(Make json);
  void flush();  // waits until the saved JSON is on disk, or until writing has failed
  bool busy() const { return jobs_.busy(); }
  const QString& error() const { return error_; }  // error of the last write; empty: none

 Q_SIGNALS:
  void written();

 private:
  QString path_;  // empty: all files are in use
  int lock_ = -1;
  QByteArray left_, unrestored_;
  Jobs jobs_;
  QString error_;
};

}  // namespace vramscope::ui
