// The panel on the right side of the window. It shows the memory at the peak or cursor by category,
// the largest live allocations, and the figures of the selected range. A legend lists all
// categories and phases of the trace. Texts are elided so that the figures stay visible in a narrow
// panel.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <bitset>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/explain/device_memory.h"
#include "profiler/trace/trace.h"
#include "ui/jobs/jobs.h"
#include "ui/panels/range_rows.h"
#include "ui/panels/rows.h"
#include "ui/timeline/theme.h"

class QGridLayout;
class QLabel;
class QToolButton;
class QVBoxLayout;

namespace vramscope::ui {

class GpuBar;
class ElidedLabel;
class Legend;
class WrappedLabel;

class BreakdownPanel : public QWidget {
  Q_OBJECT
 public:
  explicit BreakdownPanel(QWidget* parent = nullptr);

  void setDigest(std::shared_ptr<const Digest> digest);  // null: shows nothing
  void setCursorTime(qint64 time_ns);                    // < 0: at the peak
  void setRange(qint64 begin_ns, qint64 end_ns);         // begin >= end: no range
  bool busy() const { return jobs_.busy(); }
  void setSelection(trace::AllocationId id);  // highlighted if the list of the largest has it
  void setTheme(const timeline::Theme& theme);
  // Returns the figures of the selected range, formatted by RangeAsTsv(). Returns an empty text if
  // no range is selected or its figures are not computed yet.
  QString measurement() const;
  QJsonObject dumpState() const;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);
  void rangeLeft();  // the user clicked the range's chip
  // Emitted when categories are hidden or shown in the legend.
  void categoriesHidden(const std::bitset<vramscope::trace::kCategoryCount>& hidden);
  void searchRequested(const QString& filter);

 private:
  class Bar;
  class LiveList;
  enum class Of { kPeak, kCursor, kRange, kState };
  // The widgets of a category's line in `parts_`.
  struct PartLine {
    trace::Category category;
    bool any = false;  // whether the category has bytes; if not, its line is dimmed
    int words = 0;     // width of the category's name in pixels
    QLabel* bytes = nullptr;
    QLabel* share = nullptr;
    ElidedLabel* name = nullptr;
    QWidget* swatch = nullptr;
  };
  void ShowLive(const analysis::LiveSet& live, Of of);
  void ShowParts();
  void MakeLines();
  bool eventFilter(QObject* watched, QEvent* event) override;
  // Switches in the legend: they hide or show a category, show only one category (or all again), or
  // show all.
  void ShowSwitches();
  void SwitchCategory(trace::Category category, bool alone);
  void ShowAllCategories();
  void CategoryMenu(trace::Category category, const QPoint& at);
  void ShowGpu(trace::EventIndex event);
  void ShowLargest(std::vector<analysis::LiveAllocation> largest);
  void ShowRange(const RangeFigures& range);
  void FitParts();  // hides the shares if the categories' names do not fit beside them
  void Refit();
  void UpdateTime();

  timeline::Theme theme_;
  std::shared_ptr<const Digest> digest_;
  qint64 cursor_ns_ = -1;
  trace::AllocationId selection_;
  std::pair<qint64, qint64> range_{0, 0};
  std::optional<RangeFigures> shown_range_;
  Jobs jobs_;

  QLabel* heading_ = nullptr;
  QToolButton* leave_ = nullptr;
  // The main figures of the selected range, at the top, where they are visible without scrolling.
  // The other figures are in `range_box_`.
  WrappedLabel* range_summary_ = nullptr;
  ElidedLabel* moment_ = nullptr;
  Legend* phases_ = nullptr;
  GpuBar* gpu_ = nullptr;
  QWidget* range_box_ = nullptr;
  QGridLayout* range_facts_ = nullptr;
  QGridLayout* range_categories_ = nullptr;
  QGridLayout* range_freed_ = nullptr;
  QLabel* range_freed_title_ = nullptr;
  QLabel* range_sites_title_ = nullptr;
  QLabel* range_categories_title_ = nullptr;
  QGridLayout* range_sites_ = nullptr;
  QLabel* largest_title_ = nullptr;
  QLabel* total_ = nullptr;
  Bar* bar_ = nullptr;
  QGridLayout* parts_ = nullptr;
  QWidget* parts_box_ = nullptr;
  std::vector<PartLine> lines_;
  // hidden_: the categories that are hidden now. before_click_: those that were hidden before the
  // first click of a double click.
  std::bitset<trace::kCategoryCount> hidden_, before_click_;
  int parts_width_ = 0;  // width that the widest line needs without its share
  LiveList* largest_ = nullptr;
  std::vector<Part> shown_parts_;
};

}  // namespace vramscope::ui
