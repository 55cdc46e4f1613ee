// The notes of the document, in a side file that is named after a hash of the run's events. The
// file is read when the run is shown and written atomically after every change. A pool thread reads
// and writes the file.
//
//   store->show(trace);                      // emits changed() when the notes are read
//   store->set(store->content(), notes);     // emits changed(); writes the file soon after
//
// An invalid side file is not changed, and no notes can be added to the run until the file is
// removed. UI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <memory>
#include <string>

#include "ui/jobs/jobs.h"
#include "ui/notes/notes.h"

namespace vramscope::ui {

// SHA-256 of the events, in hex. The hash is the same for a run, its saved trace and a copy of that
// file. Linear in the number of events.
std::string ContentHash(const trace::Trace& trace);

class NoteStore : public QObject {
  Q_OBJECT
 public:
  explicit NoteStore(const QString& folder, QObject* parent = nullptr);
  ~NoteStore() override;  // waits for pending writes

  void show(std::shared_ptr<const trace::Trace> trace);  // null: no document
  // Whether notes can be added, because the file was read and is valid.
  bool ready() const { return !content_.empty() && error_.isEmpty(); }
  // ContentHash() of the document; empty: not known yet.
  const std::string& content() const { return content_; }
  const NoteList& notes() const { return notes_; }
  const QString& error() const { return error_; }  // why there are no notes; empty: no error
  // `content` may also be the ContentHash() of a document that was shown before.
  void set(const std::string& content, NoteList notes);
  QString pathOf(const std::string& content) const;
  bool busy() const { return reads_.busy() || writes_.busy(); }

 Q_SIGNALS:
  void changed();  // the notes of the document have changed
  void writeFailed(const QString& reason);

 private:
  struct Answer;
  void Write(const std::string& content);

  const QString folder_;
  Jobs reads_, writes_;
  std::string content_;
  NoteList notes_;
  QString error_;
  // Notes read or set in this session. They may be newer than those in a file being written.
  std::map<std::string, NoteList> known_;
  std::map<std::string, uint64_t> keys_;  // keys of the write jobs
};

}  // namespace vramscope::ui
