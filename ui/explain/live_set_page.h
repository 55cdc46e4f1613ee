// What is live at the cursor (else at the peak): one table by category, module, op, call site,
// file, phase, size class, age or annotation, or block by block; filtered as the search is.
#pragma once

#include <memory>
#include <optional>

#include "profiler/query/filter.h"
#include "ui/explain/explain_page.h"
#include "ui/explain/live_rows.h"

class QComboBox;

namespace vramscope::ui {

class FindBar;
class LiveModel;
class TableView;

class LiveSetPage : public ExplainPage {
  Q_OBJECT
 public:
  LiveSetPage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kMoment | kRange | kTheme | kSelection; }
  void Refresh(int changes) override;
  void Clear() override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  std::optional<analysis::GroupBy> By() const;
  void AskAgain();
  void Show(const std::shared_ptr<const Digest>& digest,
            const std::shared_ptr<const LiveRows>& rows, std::optional<analysis::GroupBy> by);
  void ShowSelected();
  void RowChosen(int row);
  void Step(int direction);

  LiveQuestion question_;
  bool selecting_ = false;  // by the page, not by a hand
  std::shared_ptr<const Digest> shown_of_;
  QComboBox* by_ = nullptr;
  FindBar* bar_ = nullptr;
  LiveModel* model_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
