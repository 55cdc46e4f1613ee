// One search over everything that is drawn: blocks, kernels, copies, calls, ops, modules, stacks,
// annotations, notes. What is found is marked on the timeline, listed in groups of a name, and
// stepped through by time.
//
// UI thread only. Looked for beside it; the newest text wins, an older search is stopped.
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
  // Of what is shown, as the canvas has them; null: there are none.
  void setNotes(std::shared_ptr<const timeline::NoteMarks> notes);
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);
  void search(const QString& text);  // as if it was typed
  void focusEdit();
  // To the next that was found: of the chosen row, else of all. False: nothing is found.
  bool step(int direction);
  bool busy() const { return jobs_.busy(); }
  FindBar* bar() const { return bar_; }
  TableView* view() const { return view_; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void thingClicked(const vramscope::query::Thing& thing);
  void noteClicked(size_t note);
  // What is found; null: nothing is looked for any more.
  void marked(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);

 private:
  struct Answer {
    std::shared_ptr<const timeline::TimelineData> of;
    std::shared_ptr<const query::SearchResult> found;
    std::shared_ptr<const timeline::Marking> marking;
    Table table;
    size_t notes = 0;  // that were found
  };
  void Ask() override;
  void Show(const std::shared_ptr<Answer>& answer);
  void RowChosen(int row);
  void Count();
  uint32_t CurrentGroup() const;  // UINT32_MAX: none is chosen

  query::Filter filter_;
  std::shared_ptr<const timeline::NoteMarks> notes_;
  Jobs jobs_;
  std::shared_ptr<Answer> shown_;  // null: nothing is looked for
  size_t at_ = SIZE_MAX;           // number of the thing that was stepped to last
  bool selecting_ = false, marked_ = false;
  QString nothing_;
  FindBar* bar_ = nullptr;
  TableModel* model_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
