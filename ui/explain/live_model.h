// The live set as an item model: groups that unfold into their blocks, each row made when it is
// looked at.
//
//   model->setRows(std::make_shared<const LiveRows>(...));
//   model->unfold(row, true);
//
// UI thread only. It sorts nothing itself: who listens to sortAsked() asks for rows in that order.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ui/explain/live_rows.h"
#include "ui/panels/table_panel.h"

namespace vramscope::ui {

class LiveModel : public RowModel {
  Q_OBJECT
 public:
  explicit LiveModel(QObject* parent = nullptr);
  // Groups that were unfolded stay it, by their names. Null: nothing is live.
  void setRows(std::shared_ptr<const LiveRows> rows, std::optional<analysis::GroupBy> by);
  const std::shared_ptr<const LiveRows>& rows() const { return rows_; }

  bool isGroup(int row) const;
  bool unfolded(int row) const;
  void unfold(int row, bool on);
  // Of a group's row and of a block's; UINT32_MAX: there are no groups.
  uint32_t groupAt(int row) const;
  trace::AllocationId allocationAt(int row) const;  // of a group its largest
  // Where a block is; else the group that it is folded into; -1: it is not live.
  int rowOf(trace::AllocationId id) const;

  const std::vector<Column>& columns() const override { return columns_; }
  const Cell* cell(int row, int column) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 Q_SIGNALS:
  void sortAsked(vramscope::ui::LiveColumn column, bool descending);

 private:
  static constexpr uint32_t kGroup = 1u << 31;  // of an item: a group, else a block
  const Row& Cached(int row) const;
  QPixmap Fold(int row) const;
  std::shared_ptr<const LiveRows> rows_;
  std::vector<Column> columns_;
  std::vector<uint32_t> items_;
  std::set<std::string> unfolded_;
  mutable int cached_row_ = -1;
  mutable Row cached_;
};

}  // namespace vramscope::ui
