// The right side: what was in memory at the peak or at the cursor, by category; the largest live
// allocations; facts of the selection.
#pragma once

#include <QFutureWatcher>
#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <vector>

#include "profiler/trace/trace.h"
#include "ui/panels/rows.h"
#include "ui/timeline/theme.h"

class QGridLayout;
class QLabel;
class QToolButton;
class QVBoxLayout;

namespace vramscope::ui {

class BreakdownPanel : public QWidget {
  Q_OBJECT
 public:
  explicit BreakdownPanel(QWidget* parent = nullptr);

  void setDigest(std::shared_ptr<const Digest> digest);  // null: empty
  void setCursorTime(qint64 time_ns);                    // < 0: the peak
  void setSelection(trace::AllocationId id);
  void setTheme(const timeline::Theme& theme);
  // The selected allocation's call stack, a frame a line with whole paths; empty: none.
  QString stackText() const;
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);

 private:
  class Bar;
  class LiveList;
  void ShowLive(const analysis::LiveSet& live, bool at_peak);
  void ShowSelection();
  void ShowStack();
  void UpdateMoment();

  timeline::Theme theme_;
  std::shared_ptr<const Digest> digest_;
  qint64 cursor_ns_ = -1;
  trace::AllocationId selection_;
  QFutureWatcher<std::shared_ptr<const analysis::LiveSet>> at_cursor_;

  QLabel* heading_ = nullptr;
  QLabel* moment_ = nullptr;
  QLabel* total_ = nullptr;
  Bar* bar_ = nullptr;
  QGridLayout* parts_ = nullptr;
  QWidget* parts_box_ = nullptr;
  LiveList* largest_ = nullptr;
  QLabel* selection_title_ = nullptr;
  QGridLayout* facts_ = nullptr;
  QWidget* facts_box_ = nullptr;
  QWidget* stack_box_ = nullptr;
  QLabel* stack_ = nullptr;
  QToolButton* copy_stack_ = nullptr;
  std::vector<Part> shown_parts_;
};

}  // namespace vramscope::ui
