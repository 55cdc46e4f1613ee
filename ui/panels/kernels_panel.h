// A table of the GPU's activities (kernels, memcpys and memsets), summed by name, op, module,
// phase, step, stream or kind. It can be filtered like the search. If a range is selected, the sums
// cover the activities that begin in the range.
//
// UI thread only. When the page is visible, a pool thread computes the sums. A newer request
// cancels the previous request.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <utility>

#include "profiler/query/filter.h"
#include "profiler/query/kernel_sums.h"
#include "ui/jobs/jobs.h"
#include "ui/panels/ranged_page.h"
#include "ui/panels/rows.h"
#include "ui/timeline/model/marking.h"
#include "ui/timeline/model/timeline_data.h"
#include "ui/timeline/theme.h"

class QComboBox;

namespace vramscope::ui {

class FindBar;
class TableModel;
class TableView;

class KernelsPanel : public RangedPage {
  Q_OBJECT
  Q_PROPERTY(QString emptyText MEMBER nothing_)
 public:
  explicit KernelsPanel(QWidget* parent = nullptr);

  // Sets the canvas's indexes, which know each kernel's op and module. Null: shows nothing.
  void setIndexes(std::shared_ptr<const timeline::TimelineData> indexes);
  void setActivity(uint32_t activity);  // the selected activity; UINT32_MAX: none
  void setTheme(const timeline::Theme& theme);
  void setEmptyText(const QString& text);
  void setBy(query::KernelsBy by);
  bool step(int direction);  // moves to the next kernel of the current row
  bool busy() const { return jobs_.busy(); }
  FindBar* bar() const { return bar_; }
  TableView* view() const { return view_; }
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void activityClicked(uint32_t activity);
  void marked(const std::shared_ptr<const vramscope::ui::timeline::Marking>& marking);

 private:
  using Sums = std::shared_ptr<const query::KernelSums>;
  void Ask() override;
  void Show(const Sums& sums);
  void ShowSelected();
  void RowChosen(int row);
  void Count();
  int SumOfRow(int row) const;
  int RowOfSum(uint32_t sum) const;

  // The indexes from which the shown rows were computed. They differ from indexes_ while new sums
  // are being computed.
  std::shared_ptr<const timeline::TimelineData> shown_of_;
  query::Filter filter_;
  uint32_t activity_ = UINT32_MAX;
  bool selecting_ = false;
  QString nothing_;
  Jobs jobs_;
  Sums shown_;
  QComboBox* by_ = nullptr;
  FindBar* bar_ = nullptr;
  TableModel* model_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
