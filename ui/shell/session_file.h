// The file with the saved documents of a window. While the window is open, a pool thread writes the
// file atomically. If the window is killed, the next window finds the file. Each open window has a
// separate file and locks it. The system releases the lock when the window's process ends.
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

  // The JSON that the previous window last wrote to this file, or empty if there is none.
  const QByteArray& left() const { return left_; }
  // The JSON that keepLeft() stored and that has not been restored yet, or empty if there is none.
  const QByteArray& unrestored() const { return unrestored_; }
  // Stores `session` in a second file until forgetLeft(). It contains left() and unrestored().
  void keepLeft(const QByteArray& session);
  void forgetLeft();

  // Calls `json` on a pool thread and writes the result. A later call replaces an earlier call that
  // has not been written yet.
  using Make = std::function<QByteArray()>;
  void save(Make json);
  void flush();  // waits until the saved text is on disk or the write has failed
  bool busy() const { return jobs_.busy(); }
  const QString& error() const { return error_; }  // error of the last write; empty: none

 Q_SIGNALS:
  void written();

 private:
  QString path_;  // empty: no file available
  int lock_ = -1;
  QByteArray left_, unrestored_;
  Jobs jobs_;
  QString error_;
};

}  // namespace vramscope::ui
