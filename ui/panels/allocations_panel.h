// All allocations as a table with a search. The panel shows the number of matches, goes to the next
// or previous match (Enter, Shift+Enter, F3, Shift+F3), and sends the matches to the timeline,
// which marks them. If a range is selected, the table shows the allocations that are in memory
// during the range.
//
// UI thread only. The table is built when it becomes visible. In large traces, a pool thread sorts
// and searches, and a newer request cancels the previous one.
#pragma once

#include <QJsonObject>
#include <QTimer>
#include <QWidget>
#include <memory>
#include <utility>

#include "ui/jobs/jobs.h"
#include "ui/panels/allocation_rows.h"
#include "ui/panels/rows.h"
#include "ui/timeline/model/marking.h"
#include "ui/timeline/theme.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace vramscope::ui {

class AllocationModel;
class TableView;

class AllocationsPanel : public QWidget {
  Q_OBJECT
  Q_PROPERTY(QString emptyText MEMBER nothing_)
 public:
  explicit AllocationsPanel(QWidget* parent = nullptr);

  void setDigest(std::shared_ptr<const Digest> digest);
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: no range
  void setSelection(trace::AllocationId id);
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);  // shown while there is no digest
  void make();                             // updates outdated contents, even if hidden
  // Goes to the next match or, if `direction` < 0, to the previous one. If a search is in progress,
  // does so when it has ended.
  bool step(int direction);
  bool busy() const { return jobs_.busy(); }
  TableView* view() const { return view_; }
  QLineEdit* searchEdit() const { return search_; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);
  // Emitted with the matches of the search, or with nullptr when the search is cleared.
  void marked(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);
  void rangeLeft();

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void Narrow();  // sorts the rows, and filters them by the search and the range
  void Narrowed(std::shared_ptr<const timeline::Marking> marking);
  void SendFound();
  void Count();
  void ShowSelected();

  std::shared_ptr<const Digest> digest_;
  std::pair<qint64, qint64> range_{0, 0};
  trace::AllocationId selection_;
  EventSpan span_;  // the events of range_
  Jobs jobs_;
  std::shared_ptr<const timeline::Marking> marking_;  // marks the matches; nullptr: no search
  int step_after_ = 0;  // direction of the step() that waits for the search
  bool stale_ = false, selecting_ = false;
  bool sent_ = false;  // the timeline shows a marking
  QTimer send_later_, narrow_;
  QString nothing_;
  AllocationModel* model_ = nullptr;
  TableView* view_ = nullptr;
  QLineEdit* search_ = nullptr;
  QToolButton* previous_ = nullptr;
  QToolButton* next_ = nullptr;
  QToolButton* leave_ = nullptr;
  QLabel* count_ = nullptr;
};

}  // namespace vramscope::ui
