// The page about fragmentation at the cursor or the peak: segments and their blocks, the free
// memory in segments, and the call sites whose blocks prevent its release.
#pragma once

#include "profiler/explain/explain.h"
#include "ui/explain/explain_page.h"

class QGridLayout;
class QSplitter;
class QToolButton;

namespace vramscope::ui {

class SegmentMapWidget;
class TableModel;
class TableView;

class FragmentationPage : public ExplainPage {
  Q_OBJECT
 public:
  FragmentationPage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;
  SegmentMapWidget* map() const { return map_; }

 protected:
  int cares() const override { return kDocument | kTimeChanged | kRange | kTheme | kSelection; }
  void Refresh(int changes) override;
  void Clear() override;

 private:
  struct Found;
  void Show(const Found& found);
  void ShowFacts();

  SegmentMapWidget* map_ = nullptr;
  QGridLayout* facts_ = nullptr;
  QWidget* facts_box_ = nullptr;
  TableModel* pinned_by_ = nullptr;
  TableView* pinned_by_view_ = nullptr;
  TableModel* pinned_ = nullptr;
  TableView* pinned_view_ = nullptr;
  std::vector<QToolButton*> moments_;  // buttons that go to another time
  explain::Fragmentation shown_;
  std::shared_ptr<const Digest> shown_of_;
};

}  // namespace vramscope::ui
