// A search over everything in the timeline: blocks, kernels, memcpys, calls, ops, modules, stacks,
// annotations and notes. The timeline marks the matches, and a table lists them in groups by name.
// The user can step through them in order of time.
//
// UI thread only. A pool thread searches. A newer search cancels the previous one.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <utility>

#include "profiler/query/search.h"
#include "ui/jobs/jobs.h"
#include "ui/panels/ranged_page.h"
#include "ui/panels/rows.h"
#include "ui/timeline/model/marking.h"
#include "ui/timeline/model/note_marks.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

class FindBar;
class TableModel;
class TableView;

class SearchPanel : public RangedPage {
  Q_OBJECT
  Q_PROPERTY(QString emptyText MEMBER nothing_)
 public:
  explicit SearchPanel(QWidget* parent = nullptr);

  void setIndexes(std::shared_ptr<const timeline::TimelineData> indexes);
  // Sets the document's notes, which the canvas also shows. Null: there are none.
  void setNotes(std::shared_ptr<const timeline::NoteMarks> notes);
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);
  void search(const QString& text);  // searches as if the text had been typed
  void focusEdit();
  // Goes to the next match of the chosen row or, if no row is chosen, of all rows. Returns false if
  // there is no match.
  bool step(int direction);
  bool busy() const { return jobs_.busy(); }
  FindBar* bar() const { return bar_; }
  TableView* view() const { return view_; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void thingClicked(const vramscope::query::Thing& thing);
  void noteClicked(size_t note);
  // Emitted with the matches of a search, or with null when the search is cleared.
  void marked(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);

 private:
  struct Answer {
    std::shared_ptr<const timeline::TimelineData> of;
    std::shared_ptr<const query::SearchResult> found;
    std::shared_ptr<const timeline::Marking> marking;
    Table table;
    size_t notes = 0;  // number of matching notes
  };
  void Ask() override;
  void Show(const std::shared_ptr<Answer>& answer);
  void RowChosen(int row);
  void Count();
  uint32_t CurrentGroup() const;  // UINT32_MAX: none is chosen

  query::Filter filter_;
  std::shared_ptr<const timeline::NoteMarks> notes_;
  Jobs jobs_;
  std::shared_ptr<Answer> shown_;  // null: no search
  size_t at_ = SIZE_MAX;           // index of the last match to which the user stepped
  bool selecting_ = false, marked_ = false;
  QString nothing_;
  FindBar* bar_ = nullptr;
  TableModel* model_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
