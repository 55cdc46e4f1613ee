// What the device did, as a table: kernels, copies and fills added up by name, op, module, phase,
// step, stream or kind. Filtered as the search is; of a selected range, those that begin in it.
//
// UI thread only. Added up beside it, when the page is looked at; the newest question wins.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <utility>

#include "profiler/query/filter.h"
#include "profiler/query/kernel_sums.h"
#include "ui/panels/newest.h"
#include "ui/panels/rows.h"
#include "ui/timeline/model/marking.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/theme.h"

class QComboBox;
class QToolButton;

namespace vramscope::ui {

class FindBar;
class TableModel;
class TableView;

class KernelsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit KernelsPanel(QWidget* parent = nullptr);

  // The canvas' indexes: they know whose each kernel is. Null: nothing is shown.
  void setIndexes(std::shared_ptr<const timeline::TimelineData> indexes);
  void setRange(qint64 begin_ns, qint64 end_ns);  // begin >= end: none
  void setActivity(uint32_t activity);            // that is selected; UINT32_MAX: none
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);
  void setBy(query::KernelsBy by);
  bool step(int direction);  // to the next kernel of the current row
  bool busy() const { return sums_.busy() || marking_.busy(); }
  FindBar* bar() const { return bar_; }
  TableView* view() const { return view_; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void activityClicked(uint32_t activity);
  void marked(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);
  void rangeLeft();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  using Sums = std::shared_ptr<const query::KernelSums>;
  void Stale();
  void Ask();
  void Show(const Sums& sums);
  void ShowSelected();
  void RowChosen(int row);
  void Count();
  int SumOfRow(int row) const;
  int RowOfSum(uint32_t sum) const;

  // What is asked about, and what the rows are of: not the same while the next ones are added up.
  std::shared_ptr<const timeline::TimelineData> indexes_, shown_of_;
  query::Filter filter_;
  std::pair<qint64, qint64> range_{0, 0};
  uint32_t activity_ = UINT32_MAX;
  bool stale_ = false, selecting_ = false;
  QString nothing_;
  Newest<Sums> sums_;
  Newest<std::shared_ptr<const timeline::Marking>> marking_;
  Sums shown_;
  QComboBox* by_ = nullptr;
  FindBar* bar_ = nullptr;
  QToolButton* leave_ = nullptr;
  TableModel* model_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
