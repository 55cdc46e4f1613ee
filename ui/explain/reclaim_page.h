// The page about reserved but unused memory, and replays of the remedies that release it.
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
  // Returns the event in the selected range at which reserved but unused memory is highest.
  // nullopt: there is no range.
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
