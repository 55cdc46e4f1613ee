// Tables of the bottom dock: item models over the row builders of rows.h, and a view with the
// shell's looks that copies its selection as TSV (Ctrl+C) or CSV (Ctrl+Shift+C) and sorts by the
// current column (S).
#pragma once

#include <QAbstractTableModel>
#include <QJsonObject>
#include <QPixmap>
#include <QTableView>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/query/filter.h"
#include "ui/panels/allocation_rows.h"
#include "ui/panels/rows.h"
#include "ui/timeline/theme.h"

namespace vramscope::ui {

// What the view needs beyond an item model.
class RowModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void setTheme(const timeline::Theme& theme);
  virtual const std::vector<Column>& columns() const = 0;
  // Null where a row has fewer cells. Until the next row is asked for.
  virtual const Cell* cell(int row, int column) const = 0;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  // Within a change of the layout; `to`: where a row has gone.
  void MovePersistent(const std::function<int(int)>& to);
  QPixmap Swatch(trace::Category category) const;
  QVariant CellData(const Row& row, int column, int role) const;
  timeline::Theme theme_ = timeline::Theme::Dark();
};

// A table that is there in whole.
class TableModel : public RowModel {
  Q_OBJECT
 public:
  using RowModel::RowModel;
  void setTable(Table table);
  const Table& table() const { return table_; }
  const std::vector<Column>& columns() const override { return table_.columns; }
  const Cell* cell(int row, int column) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  Table table_;
};

// All allocations of a trace: an order of ids, rows made when they are looked at. A search and a
// range leave those that match, in the same order.
class AllocationModel : public RowModel {
  Q_OBJECT
 public:
  explicit AllocationModel(QObject* parent = nullptr);
  void setTrace(std::shared_ptr<const trace::Trace> trace);
  const std::shared_ptr<const trace::Trace>& trace() const { return trace_; }
  bool narrowed() const { return narrowed_; }  // by a search or a range
  // A text as the search that it is. What cannot be read finds nothing, rather than everything.
  struct Search {
    std::string text, error;
    query::Filter filter;
  };
  static Search ReadSearch(const QString& text);
  // Which rows of an order are left by a search and a range. Linear in the allocations; any thread.
  struct Narrowed {
    std::vector<uint32_t> rows;
    uint32_t total = 0;
  };
  static Narrowed NarrowedRows(const trace::Trace& trace, const std::vector<uint32_t>& order,
                               const query::Filter& filter, const EventSpan& span);
  // Another after every sort and with every trace.
  const std::shared_ptr<const std::vector<uint32_t>>& order() const { return order_; }
  const EventSpan& span() const { return span_; }
  // `found`: NarrowedRows() of order(), the search and the range.
  void setNarrowed(Search search, const EventSpan& span, Narrowed found);
  const std::vector<Column>& columns() const override { return columns_; }
  const Cell* cell(int row, int column) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;
  trace::AllocationId at(int row) const;
  int rowOf(trace::AllocationId id) const;                    // -1: left out
  const std::string& search() const { return search_.text; }  // empty: none
  // Why the search cannot be read as a filter; empty: it can.
  const std::string& searchError() const { return search_.error; }
  std::vector<trace::AllocationId> found() const;  // of a search, in the order of rows
  uint32_t total() const;                          // in the range

 private:
  const std::vector<uint32_t>& rows() const { return narrowed_ ? rows_ : *order_; }
  void Order();
  void Narrow();
  std::vector<Column> columns_;
  std::shared_ptr<const trace::Trace> trace_;
  // All of them; never null.
  std::shared_ptr<const std::vector<uint32_t>> order_ =
      std::make_shared<const std::vector<uint32_t>>();
  std::vector<uint32_t> rows_;  // those of the search and of the range, when there is one
  bool narrowed_ = false;
  uint32_t total_ = 0;
  Search search_;
  EventSpan span_;
  int sort_column_ = kBlockColumn;
  Qt::SortOrder sort_order_ = Qt::DescendingOrder;
  mutable uint32_t cached_id_ = UINT32_MAX;
  mutable Row cached_;
};

class TableView : public QTableView {
  Q_OBJECT
  Q_PROPERTY(QString emptyText MEMBER empty_text_)
 public:
  explicit TableView(QWidget* parent = nullptr);
  void setRowModel(RowModel* model);
  void setEmptyText(const QString& text);  // in place of rows, while there are none
  // The selected rows with their heads; without any, all. TSV as it is shown, CSV (RFC 4180) with
  // plain numbers: bytes, ns, percent, the unit in the head.
  QString selectionAsTsv() const;
  QString selectionAsCsv() const;
  QString selectionAsMarkdown() const;  // a table as GitHub reads it
  void copySelection() const;
  void copyAsCsv() const;
  void copyAsMarkdown() const;
  void sortByCurrentColumn();
  // A new table in the order that the header says.
  void sortAsBefore();
  // The next row (or, with -1, the one before) becomes the current one, round at the ends. False:
  // there is none.
  bool step(int direction);
  // Row count and the first rows' texts.
  QJsonObject dumpState() const;

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void FitColumns();
  void FitWidest();
  QList<int> SelectedLines() const;
  QString empty_text_;
  bool fitting_ = false, by_hand_ = false;
  std::vector<int> wanted_;  // widths that the columns' texts need
  RowModel* rows_ = nullptr;
};

}  // namespace vramscope::ui
