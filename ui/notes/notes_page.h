// The page of notes and bookmarks among the tables: when, of what, the text. A row reveals what it
// is of; the line above writes a new note or changes the chosen one.
//
//   page->setNotes(trace, notes);
//   page->begin({.time_ns = t, .what = "block: ..."});   // typed and entered: added()
//
// UI thread only.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <optional>

#include "ui/notes/notes.h"
#include "ui/timeline/theme.h"

class QLineEdit;
class QToolButton;

namespace vramscope::ui {

class ElidedLabel;
class TableModel;
class TableView;

class NotesPage : public QWidget {
  Q_OBJECT
  Q_PROPERTY(QString emptyText MEMBER nothing_)
 public:
  explicit NotesPage(QWidget* parent = nullptr);

  // `trace`: null while nothing is shown, or its notes are not known. `error`: why there are none.
  void setNotes(std::shared_ptr<const trace::Trace> trace, const NoteList& notes,
                const QString& error = {});
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);  // while there is no trace
  void begin(const Note& note);            // a new one, whose text is asked for
  QLineEdit* edit() const { return edit_; }
  TableView* view() const { return view_; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void added(const vramscope::ui::Note& note);
  void edited(size_t note, const QString& text);
  void removed(size_t note);
  void chosen(const vramscope::ui::Note& note);
  void ended();  // Esc, or a note was entered: the canvas' keys again

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  std::optional<size_t> Chosen() const;
  void Enter();
  void Remove();
  void ShowLine();

  std::shared_ptr<const trace::Trace> trace_;
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
