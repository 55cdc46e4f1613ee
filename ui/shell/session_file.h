// The saved documents of a window. The file is written atomically, off the UI thread, while the
// window is open. If the window is killed, the next window finds the file. Each open window has its
// own file and holds a lock on it, which the system releases when the window's process ends.
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

  // The last JSON that the previous window wrote to this file; empty: there was none.
  const QByteArray& left() const { return left_; }
  // The JSON stored by keepLeft() that was not restored since; empty: none.
  const QByteArray& unrestored() const { return unrestored_; }
  // Stores `session`, which contains left() and unrestored(), in a second file until forgetLeft().
  void keepLeft(const QByteArray& session);
  void forgetLeft();

  // Calls `json` and writes its result on a pool thread. A later call replaces a call whose result
  // is not written yet.
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
