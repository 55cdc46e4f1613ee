// The memory that is live at the cursor or the peak. A table lists the blocks, or groups them by
// one or more keys: category, module, op, call site, file, phase, size class, age and annotation.
// The page can also show a flame graph by stack, or a treemap of the groups. Blocks can be filtered
// as in the search.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>

#include "profiler/query/filter.h"
#include "ui/explain/explain_page.h"
#include "ui/explain/live_rows.h"

class QComboBox;
class QLineEdit;
class QStackedWidget;

namespace vramscope::ui {

class FindBar;
class LiveChart;
class LiveModel;
struct LiveTree;
class TableView;

class LiveSetPage : public ExplainPage {
  Q_OBJECT
 public:
  LiveSetPage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kTimeChanged | kRange | kTheme | kSelection; }
  void Refresh(int changes) override;
  void Clear() override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  absl::StatusOr<std::optional<analysis::GroupExpression>> By() const;
  void AskAgain();
  enum class As : uint8_t { kTable, kFlame, kTreemap };
  struct Answer {
    std::shared_ptr<const Digest> digest;
    std::shared_ptr<const LiveRows> rows;
    std::optional<analysis::GroupExpression> by;
    As as = As::kTable;
    std::shared_ptr<const LiveTree> tree;  // what the flame graph or treemap draws
  };
  void Show(const Answer& answer);
  void ShowSelected();
  void RowChosen(int row);
  void Step(int direction);

  LiveQuestion question_;
  bool selecting_ = false;  // the page, not the user, is changing the selection
  std::shared_ptr<const Digest> shown_of_;
  QComboBox* by_ = nullptr;
  QLineEdit* expression_ = nullptr;
  QComboBox* as_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  LiveChart* chart_ = nullptr;
  FindBar* bar_ = nullptr;
  LiveModel* model_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
