// The model of the table of allocations; see table_panel.h.
#include <algorithm>
#include <numeric>

#include "profiler/query/matcher.h"
#include "ui/panels/table_panel.h"

namespace vramscope::ui {

AllocationModel::AllocationModel(QObject* parent)
    : RowModel(parent), columns_(AllocationColumns(nullptr)) {}

void AllocationModel::setTrace(std::shared_ptr<const trace::Trace> trace) {
  beginResetModel();
  trace_ = std::move(trace);
  search_ = {};
  span_ = {};
  columns_ = AllocationColumns(trace_.get());
  if (sort_column_ >= static_cast<int>(columns_.size())) sort_column_ = kBlockColumn;
  cached_id_ = UINT32_MAX;
  Order();
  endResetModel();
}

AllocationModel::Search AllocationModel::ReadSearch(const QString& text) {
  Search search{.text = text.trimmed().toStdString()};
  const absl::StatusOr<query::Filter> filter = query::ParseSearch(search.text);
  search.error = std::string(filter.status().message());
  search.filter = filter.ok() ? *filter : query::Filter::OfText(search.text);
  return search;
}

void AllocationModel::setContents(Search search, const EventSpan& span, Contents contents) {
  beginResetModel();
  search_ = std::move(search);
  span_ = span;
  narrowed_ = trace_ != nullptr && (!search_.text.empty() || !span_.whole());
  order_ = std::move(contents.order);
  rows_ = std::move(contents.rows);
  total_ = contents.total;
  sorted_ = true;
  endResetModel();
}

AllocationModel::Request AllocationModel::request(const query::Filter& filter,
                                                  const EventSpan& span) const {
  return {.order = sorted_ ? order_ : nullptr,
          .column = sort_column_,
          .direction = sort_order_,
          .filter = filter,
          .span = span};
}

void AllocationModel::Order() {
  const bool small = trace_ == nullptr || trace_->allocations.size() < kInline;
  sorted_ = false;
  Contents contents{.order = std::make_shared<const std::vector<uint32_t>>()};
  if (trace_ != nullptr && small) contents = ContentsOf(*trace_, request(search_.filter, span_));
  narrowed_ = trace_ != nullptr && (!search_.text.empty() || !span_.whole());
  order_ = std::move(contents.order);
  rows_ = std::move(contents.rows);
  total_ = contents.total;
  sorted_ = small;
}

// A search or a range filters the rows, but does not change their order.
AllocationModel::Contents AllocationModel::ContentsOf(const trace::Trace& trace,
                                                      const Request& request) {
  const uint32_t n = trace.allocations.size();
  Contents out{.order = request.order, .rows = {}, .total = n};
  if (out.order == nullptr)
    out.order = std::make_shared<const std::vector<uint32_t>>(
        AllocationOrder(trace, request.column, request.direction == Qt::DescendingOrder));
  if (request.filter.empty() && request.span.whole()) return out;  // all rows are kept
  std::vector<bool> keep = query::Matcher(request.filter, trace, nullptr).MatchBlocks();
  if (!request.span.whole()) {
    out.total = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const bool touches = request.span.Touches(trace, i);
      out.total += touches;
      keep[i] = keep[i] && touches;
    }
  }
  for (const uint32_t i : *out.order)
    if (keep[i]) out.rows.push_back(i);
  return out;
}

int AllocationModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows().size());
}

const Cell* AllocationModel::cell(int row, int column) const {
  const uint32_t id = rows()[static_cast<size_t>(row)];
  if (cached_id_ != id) {
    cached_ = AllocationRow(*trace_, trace::AllocationId{id});
    cached_id_ = id;
  }
  return static_cast<size_t>(column) < cached_.cells.size()
             ? &cached_.cells[static_cast<size_t>(column)]
             : nullptr;
}

timeline::Link AllocationModel::link(int row) const {
  const trace::AllocationId id = at(row);
  if (!id.valid()) return {};
  return {timeline::Link::To::kAllocation, id.value};
}

QVariant AllocationModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  cell(index.row(), index.column());
  return CellData(cached_, index.column(), role);
}

void AllocationModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  if (column == sort_column_ && order == sort_order_) return;
  sort_column_ = column;
  sort_order_ = order;
  if (trace_ != nullptr && trace_->allocations.size() >= kInline) {
    sorted_ = false;
    Q_EMIT sortingNeeded();
    return;
  }
  Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
  const std::vector<uint32_t> before =
      persistentIndexList().isEmpty() ? std::vector<uint32_t>() : rows();
  Order();
  if (!before.empty()) {
    std::vector<int> row_of(trace_->allocations.size(), -1);
    for (size_t row = 0; row < rows().size(); ++row) row_of[rows()[row]] = static_cast<int>(row);
    MovePersistent([&](int row) { return row_of[before[static_cast<size_t>(row)]]; });
  }
  Q_EMIT layoutChanged({}, VerticalSortHint);
}

trace::AllocationId AllocationModel::at(int row) const {
  return row >= 0 && row < rowCount() ? trace::AllocationId{rows()[static_cast<size_t>(row)]}
                                      : trace::AllocationId{};
}

int AllocationModel::rowOf(trace::AllocationId id) const {
  const auto found = std::find(rows().begin(), rows().end(), id.value);
  return found == rows().end() ? -1 : static_cast<int>(found - rows().begin());
}

uint32_t AllocationModel::total() const { return total_; }

}  // namespace vramscope::ui
