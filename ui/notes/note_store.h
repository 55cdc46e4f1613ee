// The notes of what is shown, in a side file of their own by the run's content: read when a run is
// shown, written atomically after every change. Both beside the UI thread.
//
//   store->show(trace);                      // changed() when its notes are here
//   store->set(store->content(), notes);     // changed(), and on disk soon
//
// A side file that is refused is left as it is, and the run takes no notes until it is gone.
// UI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <memory>
#include <string>

#include "ui/jobs/jobs.h"
#include "ui/notes/notes.h"

namespace vramscope::ui {

// SHA-256 of the events, in hex: the same for a run, its saved trace and a copy of that. Linear in
// the events.
std::string ContentHash(const trace::Trace& trace);

class NoteStore : public QObject {
  Q_OBJECT
 public:
  explicit NoteStore(const QString& folder, QObject* parent = nullptr);
  ~NoteStore() override;  // waits for what is being written

  void show(std::shared_ptr<const trace::Trace> trace);  // null: nothing is
  // Notes can be made: the file was read, and not refused.
  bool ready() const { return !content_.empty() && error_.isEmpty(); }
  const std::string& content() const { return content_; }  // of what is shown; empty: not known yet
  const NoteList& notes() const { return notes_; }
  const QString& error() const { return error_; }  // why there are none; empty: there can be
  // Of any content that was shown before, not only of what is shown now.
  void set(const std::string& content, NoteList notes);
  QString pathOf(const std::string& content) const;
  bool busy() const { return reads_.busy() || writes_.busy(); }

 Q_SIGNALS:
  void changed();  // of what is shown
  void writeFailed(const QString& reason);

 private:
  struct Answer;
  void Write(const std::string& content);

  const QString folder_;
  Jobs reads_, writes_;
  std::string content_;
  NoteList notes_;
  QString error_;
  // What was read or set here: newer than a file whose write has not ended.
  std::map<std::string, NoteList> known_;
  std::map<std::string, uint64_t> keys_;  // of the jobs that write
};

}  // namespace vramscope::ui
