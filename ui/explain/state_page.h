// The page of a snapshot without history: its segments, the blocks by call site, category and pool
// (private pools with their owners), and the memory that empty_cache() would release. For a run,
// the page shows the same of the memory at the cursor or the peak. For a file that contains only
// torch.cuda.memory_stats(), it shows these figures.
#pragma once

#include <optional>

#include "profiler/explain/state.h"
#include "ui/explain/explain_page.h"

class QGridLayout;
class QTabWidget;

namespace vramscope::ui {

class SegmentMapWidget;
class TableModel;
class TableView;

class StatePage : public ExplainPage {
  Q_OBJECT
 public:
  StatePage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kTimeChanged | kRange | kTheme | kSelection; }
  void Refresh(int changes) override;
  void Clear() override;
  bool wantsEvents() const override { return false; }

 private:
  struct Found;
  void Show(const Found& found);

  SegmentMapWidget* map_ = nullptr;
  QWidget* side_ = nullptr;
  QGridLayout* facts_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  // Blocks by call site, category and pool; the largest blocks; the figures of memory_stats().
  static constexpr int kTables = 5;
  TableModel* tables_[kTables] = {};
  TableView* views_[kTables] = {};
};

}  // namespace vramscope::ui
