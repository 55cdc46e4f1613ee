// All allocations as a table, with a search over them: how many there are, the next and the one
// before (Enter, Shift+Enter, F3, Shift+F3), and which they are, for the timeline to mark. Of a
// selected range, those that are in memory in it.
//
// UI thread only. The table is made when it is looked at; in large traces what matches is looked
// for beside it, and the newest search wins.
#pragma once

#include <QJsonObject>
#include <QTimer>
#include <QWidget>
#include <memory>
#include <utility>
#include <vector>

#include "ui/jobs/jobs.h"
#include "ui/panels/allocation_rows.h"
#include "ui/panels/rows.h"
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
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: none
  void setSelection(trace::AllocationId id);
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);  // while there is no digest
  void make();                             // what is stale, though nobody looks
  // To the next one that is found; while it is looked for, as soon as it is.
  bool step(int direction);
  bool busy() const { return jobs_.busy(); }
  TableView* view() const { return view_; }
  QLineEdit* searchEdit() const { return search_; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);
  // What the search finds; empty: it is over.
  void found(const std::vector<vramscope::trace::AllocationId>& blocks);
  void rangeLeft();

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void Narrow();  // to the search and the range
  void Narrowed();
  void SendFound();
  void Count();
  void ShowSelected();

  std::shared_ptr<const Digest> digest_;
  std::pair<qint64, qint64> range_{0, 0};
  trace::AllocationId selection_;
  EventSpan span_;  // of the range
  Jobs jobs_;
  int step_after_ = 0;  // a step that was asked for while it is looked for
  bool stale_ = false, selecting_ = false, sent_ = false;
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
