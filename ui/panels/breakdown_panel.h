// The right side: what was in memory at the peak or at the cursor, by category (the legend: of what
// the trace has at any time, and its phases); the largest live allocations; of a selected range its
// card of figures. Never wider than its place: figures stay in sight.
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

class CardBar;
class ElidedLabel;
class Legend;

class BreakdownPanel : public QWidget {
  Q_OBJECT
 public:
  explicit BreakdownPanel(QWidget* parent = nullptr);

  void setDigest(std::shared_ptr<const Digest> digest);  // null: empty
  void setCursorTime(qint64 time_ns);                    // < 0: the peak
  void setRange(qint64 begin_ns, qint64 end_ns);         // begin >= end: none
  bool busy() const { return jobs_.busy(); }
  void setSelection(trace::AllocationId id);  // marked where it is listed
  void setTheme(const timeline::Theme& theme);
  // Of the selected range, as RangeAsTsv() has it; empty: none is selected, or not added up yet.
  QString measurement() const;
  QJsonObject dumpState() const;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);
  void rangeLeft();  // its chip was clicked
  // Categories that are switched off in the legend.
  void categoriesHidden(const std::bitset<vramscope::trace::kCategoryCount>& hidden);
  void searchRequested(const QString& filter);

 private:
  class Bar;
  class LiveList;
  enum class Of { kPeak, kCursor, kRange, kState };
  // A category's line in `parts_`.
  struct PartLine {
    trace::Category category;
    bool any = false;  // it has bytes: else it is dim
    int words = 0;     // pixels of its name
    QLabel* bytes = nullptr;
    QLabel* share = nullptr;
    ElidedLabel* name = nullptr;
    QWidget* swatch = nullptr;
  };
  void ShowLive(const analysis::LiveSet& live, Of of);
  void ShowParts();
  void MakeLines();
  bool eventFilter(QObject* watched, QEvent* event) override;
  // The legend's switches: this one, this one alone (again: all), all.
  void ShowSwitches();
  void SwitchCategory(trace::Category category, bool alone);
  void ShowAllCategories();
  void CategoryMenu(trace::Category category, const QPoint& at);
  void ShowCard(trace::EventIndex event);
  void ShowLargest(std::vector<analysis::LiveAllocation> largest);
  void ShowRange(const RangeFigures& range);
  void FitParts();  // shares give way to the categories' names, which say what the colours are
  void Refit();
  void UpdateMoment();

  timeline::Theme theme_;
  std::shared_ptr<const Digest> digest_;
  qint64 cursor_ns_ = -1;
  trace::AllocationId selection_;
  std::pair<qint64, qint64> range_{0, 0};
  std::optional<RangeFigures> shown_range_;
  Jobs jobs_;

  QLabel* heading_ = nullptr;
  QToolButton* leave_ = nullptr;
  ElidedLabel* moment_ = nullptr;
  Legend* phases_ = nullptr;
  CardBar* card_ = nullptr;
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
  // And as it was before the first click of a double one.
  std::bitset<trace::kCategoryCount> hidden_, before_click_;
  bool lines_dark_ = false;  // the theme that they were made in
  int parts_width_ = 0;      // of the widest line without its share
  LiveList* largest_ = nullptr;
  std::vector<Part> shown_parts_;
};

}  // namespace vramscope::ui
