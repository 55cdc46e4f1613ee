// The page about an out-of-memory error: the requested size, the free memory, the blocks in the
// rest of the memory, and changes that would have let the allocation succeed.
#pragma once

#include "profiler/explain/explain.h"
#include "ui/explain/explain_page.h"

class QComboBox;
class QToolButton;
class QGridLayout;

namespace vramscope::ui {

class TableModel;
class TableView;

class OutOfMemoryPageView : public ExplainPage {
  Q_OBJECT
 public:
  OutOfMemoryPageView(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kTheme; }
  void Refresh(int changes) override;
  void Clear() override;
  void Cancelled() override;

 private:
  void Compute(bool replay);
  void Show(const explain::OutOfMemoryPage& page);
  void ShowEvent(int index);

  QComboBox* which_ = nullptr;
  QToolButton* go_ = nullptr;
  QWidget* body_ = nullptr;  // everything but the head; hidden if memory did not run out
  QWidget* facts_box_ = nullptr;
  QGridLayout* facts_ = nullptr;
  TableModel* ways_ = nullptr;
  TableView* ways_view_ = nullptr;
  TableModel* sites_ = nullptr;
  TableView* sites_view_ = nullptr;
  explain::OutOfMemoryPage shown_;
  std::shared_ptr<const Digest> shown_of_;
};

}  // namespace vramscope::ui
