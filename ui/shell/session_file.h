// The documents of a window on disk, while it is open and after it: written atomically beside the
// UI thread, and found by the next window when this one was killed. Each open window has a file of
// its own; a lock, which dies with its process, says who lives.
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
  ~SessionFile() override;  // waits for what is being written

  // What the window that had this file before wrote last; empty: there was none.
  const QByteArray& left() const { return left_; }
  // It stays beside the new one until it was restored, or is not wanted.
  void keepLeft();
  void forgetLeft();

  // Made and written on a pool's thread; a later text takes the place of one that is not written
  // yet.
  using Make = std::function<QByteArray()>;
  void save(Make json);
  void flush();  // what was saved is on disk when this returns, or cannot be
  bool busy() const { return jobs_.busy(); }
  const QString& error() const { return error_; }  // of the last write; empty: none

 Q_SIGNALS:
  void written();

 private:
  QString path_;  // empty: no place for it
  int lock_ = -1;
  QByteArray left_;
  Jobs jobs_;
  QString error_;
};

}  // namespace vramscope::ui
