// The page about the memory at one time: the time of a snapshot without history, or the cursor or
// peak of a run. It shows segments, blocks by call site, category and pool (private pools with
// their owners), and what empty_cache() would release. If a file contains only
// torch.cuda.memory_stats(), the page shows only these figures.
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
  // Tables of call sites, categories, pools, the largest blocks, and memory_stats().
  static constexpr int kTables = 5;
  TableModel* tables_[kTables] = {};
  TableView* views_[kTables] = {};
};

}  // namespace vramscope::ui
