// The tables of the bottom dock: item models for the rows that rows.h makes, and a view in the
// window's style. In the view, Ctrl+C copies the selection as TSV, Ctrl+Shift+C copies it as CSV,
// and S sorts by the current column.
#pragma once

#include <QAbstractTableModel>
#include <QJsonObject>
#include <QPixmap>
#include <QTableView>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/query/filter.h"
#include "ui/panels/allocation_rows.h"
#include "ui/panels/rows.h"
#include "ui/timeline/model/activity_facts.h"
#include "ui/timeline/theme.h"

class QMenu;

namespace vramscope::ui {

// An item model with additional functions for TableView.
class RowModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void setTheme(const timeline::Theme& theme);
  virtual const std::vector<Column>& columns() const = 0;
  // Returns null if the row has no such cell. The pointer is valid until the next call.
  virtual const Cell* cell(int row, int column) const = 0;
  // Returns the thing in the timeline that the row describes. If there are several things, returns
  // one of them.
  virtual timeline::Link link(int) const { return {}; }
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 protected:
  // Call it during a layout change. `to` maps the old index of each row to its new index.
  void MovePersistent(const std::function<int(int)>& to);
  QPixmap Swatch(trace::Category category) const;
  QVariant CellData(const Row& row, int column, int role) const;
  timeline::Theme theme_ = timeline::Theme::Dark();
};

// A model that has all its rows in memory.
class TableModel : public RowModel {
  Q_OBJECT
 public:
  using RowModel::RowModel;
  void setTable(Table table);
  const Table& table() const { return table_; }
  const std::vector<Column>& columns() const override { return table_.columns; }
  const Cell* cell(int row, int column) const override;
  timeline::Link link(int row) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  Table table_;
};

// The model of all allocations of a trace. It stores a sorted list of ids and builds rows on
// demand. A search or a range filters the rows without changing their order.
class AllocationModel : public RowModel {
  Q_OBJECT
 public:
  explicit AllocationModel(QObject* parent = nullptr);
  void setTrace(std::shared_ptr<const trace::Trace> trace);
  const std::shared_ptr<const trace::Trace>& trace() const { return trace_; }
  bool narrowed() const { return narrowed_; }  // whether a search or a range filters the rows
  // A search text and the filter that it means. If the text is not a valid filter, nothing matches.
  struct Search {
    std::string text, error;
    query::Filter filter;
  };
  static Search ReadSearch(const QString& text);
  // With fewer allocations than this, sorting and searching are fast enough for the UI thread.
  static constexpr uint32_t kInline = 50'000;
  // A request to sort the rows, and to filter them by a search and a range.
  struct Request {
    std::shared_ptr<const std::vector<uint32_t>> order;  // nullptr: sort
    int column = kBlockColumn;
    Qt::SortOrder direction = Qt::DescendingOrder;
    query::Filter filter;
    EventSpan span;
  };
  struct Contents {
    std::shared_ptr<const std::vector<uint32_t>> order;
    std::vector<uint32_t> rows;
    uint32_t total = 0;
  };
  // Takes time proportional to the number of allocations. May run on any thread.
  static Contents ContentsOf(const trace::Trace& trace, const Request& request);
  // Returns a request for another search and range, with the current sort order.
  Request request(const query::Filter& filter, const EventSpan& span) const;
  // Whether the rows are sorted as the header indicates. This class does not sort the rows of a
  // large trace itself, but emits sortingNeeded().
  bool sorted() const { return sorted_; }
  const EventSpan& span() const { return span_; }
  // `contents` is the result of ContentsOf() for request() with this search and range.
  void setContents(Search search, const EventSpan& span, Contents contents);
  const std::vector<Column>& columns() const override { return columns_; }
  const Cell* cell(int row, int column) const override;
  timeline::Link link(int row) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;
  trace::AllocationId at(int row) const;
  int rowOf(trace::AllocationId id) const;                    // -1: the row is filtered out
  const std::string& search() const { return search_.text; }  // empty: no search
  // Why the search is not a valid filter, or "" if it is valid.
  const std::string& searchError() const { return search_.error; }
  uint32_t total() const;  // number of allocations in the range, with or without a search

 Q_SIGNALS:
  void sortingNeeded();

 private:
  const std::vector<uint32_t>& rows() const { return narrowed_ ? rows_ : *order_; }
  void Order();
  std::vector<Column> columns_;
  std::shared_ptr<const trace::Trace> trace_;
  // The ids of all allocations, in the current order; never null.
  std::shared_ptr<const std::vector<uint32_t>> order_ =
      std::make_shared<const std::vector<uint32_t>>();
  std::vector<uint32_t> rows_;  // the rows that pass the search and the range
  bool narrowed_ = false, sorted_ = true;
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
  void setEmptyText(const QString& text);  // shown while there are no rows
  // A function that makes the context menu for the thing that a row describes, or returns null if
  // `link` is empty. The table adds its own commands to the menu.
  using LinkMenu = std::function<QMenu*(const timeline::Link& link, QWidget* parent)>;
  void setLinkMenu(LinkMenu menu) { link_menu_ = std::move(menu); }
  // These functions return the selected rows, or all rows if none is selected, with the column
  // headers. TSV contains the displayed texts. CSV (RFC 4180) contains plain numbers (bytes, ns,
  // percent), with the units in the header.
  QString selectionAsTsv() const;
  QString selectionAsCsv() const;
  QString selectionAsMarkdown() const;  // a table in GitHub's Markdown
  void copySelection() const;
  void copyAsCsv() const;
  void copyAsMarkdown() const;
  void sortByCurrentColumn();
  // Sorts the rows by the column that the header indicates. Call it after the rows have changed.
  void sortAsBefore();
  // Makes the next row the current row, or the previous row if `direction` is -1. Wraps around.
  // Returns false if there are no rows.
  bool step(int direction);
  // Returns the number of rows and the texts of the first rows.
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
  LinkMenu link_menu_;
  bool fitting_ = false, by_hand_ = false;
  std::vector<int> wanted_;  // widths that the texts of the columns need
  RowModel* rows_ = nullptr;
};

}  // namespace vramscope::ui
