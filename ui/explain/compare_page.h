// The page that compares the shown trace with the baseline or the previous run, by call site,
// category, phase or step. The baseline is a pinned trace, or a file opened for the comparison.
#pragma once

#include <memory>
#include <optional>

#include "ui/explain/compare_rows.h"
#include "ui/explain/explain_page.h"

class QBoxLayout;
class QComboBox;
class QHBoxLayout;
class QLineEdit;
class QToolButton;

namespace vramscope::ui {

class TableModel;
class TableView;

class ComparePage : public ExplainPage {
  Q_OBJECT
 public:
  ComparePage(const ExplainContext* context, QWidget* parent = nullptr);
  QJsonObject dumpState() const override;

 protected:
  int cares() const override { return kDocument | kAgainst | kTheme; }
  void Refresh(int changes) override;
  void Clear() override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void Compute();
  void Show(CompareBy by);
  void ShowHead();
  void Fill();
  void ListSteps();
  void FitControls();  // places the controls in two lines if they do not fit in one

  std::optional<Comparison> found_;
  CompareBy by_ = CompareBy::kSite;
  std::optional<int32_t> step_;  // nullopt: at the peaks of both traces
  QToolButton* by_buttons_[kCompareBys] = {};
  std::shared_ptr<const Digest> compared_with_;
  QComboBox* steps_ = nullptr;
  QLineEdit* filter_ = nullptr;
  QToolButton* changes_ = nullptr;
  QToolButton* pin_ = nullptr;
  QToolButton* swap_ = nullptr;
  QWidget* controls_ = nullptr;
  QBoxLayout* lines_ = nullptr;
  QHBoxLayout* by_line_ = nullptr;    // controls that choose what is compared
  QHBoxLayout* rows_line_ = nullptr;  // controls that choose which rows are shown
  TableModel* table_ = nullptr;
  TableView* view_ = nullptr;
};

}  // namespace vramscope::ui
