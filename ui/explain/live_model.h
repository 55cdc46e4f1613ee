// The live set as an item model of groups that unfold into their blocks. Rows are built on demand.
//
//   model->setRows(std::make_shared<const LiveRows>(...));
//   model->unfold(row, true);
//
// UI thread only. The model does not sort. It emits sortAsked(), and the receiver must call
// setRows() with sorted rows.
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
  // A group stays unfolded if the new rows have a group with the same name. Null: nothing is live.
  void setRows(std::shared_ptr<const LiveRows> rows,
               const std::optional<analysis::GroupExpression>& by);
  const std::shared_ptr<const LiveRows>& rows() const { return rows_; }

  bool isGroup(int row) const;
  bool unfolded(int row) const;
  void unfold(int row, bool on);
  // Returns the group in this row, or the group that contains the block in this row. UINT32_MAX:
  // there are no groups.
  uint32_t groupAt(int row) const;
  trace::AllocationId allocationAt(int row) const;  // for a group: its largest block
  // Returns the row of a block or, if its group is folded, the row of the group. -1: the block is
  // not live.
  int rowOf(trace::AllocationId id) const;

  const std::vector<Column>& columns() const override { return columns_; }
  const Cell* cell(int row, int column) const override;
  timeline::Link link(int row) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 Q_SIGNALS:
  void sortAsked(vramscope::ui::LiveColumn column, bool descending);

 private:
  static constexpr uint32_t kGroup = 1u << 31;  // marks an item that is a group
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
