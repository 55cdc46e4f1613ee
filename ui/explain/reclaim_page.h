// Reserved but unused memory, and remedies that would release it. Every remedy is replayed.
#pragma once

#include "profiler/explain/explain.h"
#include "ui/explain/explain_page.h"

class QToolButton;

namespace vramscope::ui {

class TableModel;
class TableView;

class ReclaimPage : public ExplainPage {
  Q_OBJECT
 public:
  ReclaimPage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kRange | kTheme; }
  void Refresh(int changes) override;
  void Clear() override;
  void Cancelled() override;

 private:
  // The event of the selected range with the most unused reserved memory.
  std::optional<trace::EventIndex> MostUnusedOfRange() const;
  void Compute(std::optional<trace::EventIndex> at);
  void Show(const std::shared_ptr<const Digest>& digest,
            const absl::StatusOr<explain::Reclaim>& found);

  TableModel* table_ = nullptr;
  TableView* view_ = nullptr;
  QToolButton* at_cursor_ = nullptr;
  QString error_;
};

}  // namespace vramscope::ui
