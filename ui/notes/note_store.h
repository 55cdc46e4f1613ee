// The notes of the shown document. They are stored in a side file whose name is a hash of the run's
// events. A pool thread reads the file when the run is shown, and writes it atomically after every
// change.
//
//   store->show(trace);                      // emits changed() when the notes are read
//   store->set(store->content(), notes);     // emits changed(); writes the file soon after
//
// Several windows may show the run. A write applies this window's changes to the notes that are in
// the file then, and the window shows the result.
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

// Returns the SHA-256 of the events, in hex. A run, its saved trace and copies of that file have
// the same hash. Takes time proportional to the number of events.
std::string ContentHash(const trace::Trace& trace);

class NoteStore : public QObject {
  Q_OBJECT
 public:
  explicit NoteStore(const QString& folder, QObject* parent = nullptr);
  ~NoteStore() override;  // waits for pending writes

  void show(std::shared_ptr<const trace::Trace> trace);  // null: no document
  // Whether notes can be added, that is, whether the side file has been read and is valid.
  bool ready() const { return !content_.empty() && error_.isEmpty(); }
  // The document's ContentHash(), or "" if it is not known yet.
  const std::string& content() const { return content_; }
  const NoteList& notes() const { return notes_; }
  const QString& error() const { return error_; }  // why there are no notes; empty: no error
  // Sets the notes of the run with this ContentHash(), even if another run is shown.
  void set(const std::string& content, NoteList notes);
  // Applies the changes that lead from `from` to `to` to the notes of the run. Notes that came from
  // another window in the meantime stay.
  void change(const std::string& content, const NoteList& from, const NoteList& to);
  QString pathOf(const std::string& content) const;
  bool busy() const { return reads_.busy() || writes_.busy(); }

 Q_SIGNALS:
  void changed();  // the notes of the document have changed
  void writeFailed(const QString& reason);

 private:
  struct Answer;
  // A run whose notes were read or set in this session.
  struct Run {
    NoteList notes;
    std::weak_ptr<const trace::Trace> trace;
    // The notes from which the user's next changes start: those in the file when it was last read
    // or written here. While a write is in progress, only its job uses them.
    std::shared_ptr<NoteList> base = std::make_shared<NoteList>();
    bool unwritten = false;  // the file does not contain `notes` yet
  };
  void Show(const Answer& answer, const std::shared_ptr<const trace::Trace>& trace,
            uint64_t asked_at);
  void Write(const std::string& content);
  uint64_t KeyOf(const std::string& content);
  // `notes`: the new content of the file.
  void Written(const std::string& content, const NoteList& notes);

  const QString folder_;
  Jobs reads_, writes_;
  std::string content_;
  NoteList notes_;
  QString error_;
  std::map<std::string, Run> runs_;       // by content hash
  std::map<std::string, uint64_t> keys_;  // keys of the jobs that write the files
  uint64_t changes_ = 0;  // how often notes were set or written: a file that was read before is old
};

}  // namespace vramscope::ui
