// The page of notes and bookmarks next to the tables: time, subject and text, and the figures of
// saved ranges. Selecting a row shows its subject in the timeline. The field above the table adds a
// note or edits the selected one.
//
//   page->setNotes(digest, notes);
//   page->begin({.time_ns = t, .what = "block: ..."});   // added() once the text is entered
//
// UI thread only.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "ui/jobs/jobs.h"
#include "ui/notes/notes.h"
#include "ui/panels/rows.h"
#include "ui/timeline/theme.h"

class QLineEdit;
class QToolButton;

namespace vramscope::ui {

class ElidedLabel;
class TableModel;
class TableView;

// The most important figures of a saved range.
struct RangeSummary {
  uint64_t peak = 0, allocated = 0, freed = 0;
  int64_t change = 0;  // change of the allocated bytes from the range's begin to its end
  friend bool operator==(const RangeSummary&, const RangeSummary&) = default;
};

class NotesPage : public QWidget {
  Q_OBJECT
  Q_PROPERTY(QString emptyText MEMBER nothing_)
 public:
  explicit NotesPage(QWidget* parent = nullptr);

  // `digest` is null if there is no document. It is also null if the document's notes are unknown,
  // for the reason `error`.
  void setNotes(std::shared_ptr<const Digest> digest, const NoteList& notes,
                const QString& error = {});
  bool busy() const { return jobs_.busy(); }
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);  // shown while there is no trace
  void begin(const Note& note);            // starts a new note; the user types its text
  QLineEdit* edit() const { return edit_; }
  TableView* view() const { return view_; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void added(const vramscope::ui::Note& note);
  void edited(size_t note, const QString& text);
  void removed(size_t note);
  void chosen(const vramscope::ui::Note& note);
  void ended();  // the user pressed Esc or entered a note; the focus should return to the canvas

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  std::optional<size_t> Chosen() const;
  void Enter();
  void Remove();
  void ShowLine();
  void Fill(std::optional<size_t> select = {});
  void AddUpRanges();
  const trace::Trace* trace() const { return digest_ ? digest_->trace.get() : nullptr; }

  std::shared_ptr<const Digest> digest_;
  // Summaries of the saved ranges of this digest. The key is begin and end of the range.
  std::map<std::pair<int64_t, int64_t>, RangeSummary> ranges_;
  Jobs jobs_;
  NoteList notes_;
  std::optional<Note> begun_;
  bool filling_ = false;
  QString nothing_, error_;
  ElidedLabel* of_ = nullptr;
  QLineEdit* edit_ = nullptr;
  QToolButton* remove_ = nullptr;
  TableModel* model_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
