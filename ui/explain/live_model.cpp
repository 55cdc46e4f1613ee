#include "ui/explain/live_model.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <numeric>
#include <utility>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kFoldWidth = 14, kFoldHeight = 12, kIndent = 14;

}  // namespace

LiveModel::LiveModel(QObject* parent) : RowModel(parent), columns_(LiveColumns({})) {}

void LiveModel::setRows(std::shared_ptr<const LiveRows> rows,
                        const std::optional<analysis::GroupExpression>& by) {
  beginResetModel();
  rows_ = std::move(rows);
  columns_ = LiveColumns(by);
  cached_row_ = -1;
  items_.clear();
  if (rows_ != nullptr && rows_->groups().empty()) {
    items_.resize(rows_->blocks().size());
    std::iota(items_.begin(), items_.end(), 0u);
  } else if (rows_ != nullptr) {
    for (uint32_t g = 0; g < rows_->groups().size(); ++g) {
      items_.push_back(kGroup | g);
      const LiveRows::Group& group = rows_->groups()[g];
      if (unfolded_.contains(group.name))
        for (uint32_t i = 0; i < group.count; ++i) items_.push_back(group.first + i);
    }
  }
  endResetModel();
}

bool LiveModel::isGroup(int row) const {
  return row >= 0 && row < rowCount() && (items_[static_cast<size_t>(row)] & kGroup) != 0;
}

bool LiveModel::unfolded(int row) const {
  return isGroup(row) && unfolded_.contains(rows_->groups()[groupAt(row)].name);
}

void LiveModel::unfold(int row, bool on) {
  if (!isGroup(row) || unfolded(row) == on) return;
  const LiveRows::Group& group = rows_->groups()[groupAt(row)];
  const auto count = static_cast<int>(group.count);
  const auto at = items_.begin() + row + 1;
  cached_row_ = -1;
  if (on) {
    unfolded_.insert(group.name);
    beginInsertRows({}, row + 1, row + count);
    std::vector<uint32_t> blocks(group.count);
    std::iota(blocks.begin(), blocks.end(), group.first);
    items_.insert(at, blocks.begin(), blocks.end());
    endInsertRows();
  } else {
    unfolded_.erase(group.name);
    beginRemoveRows({}, row + 1, row + count);
    items_.erase(at, at + count);
    endRemoveRows();
  }
  Q_EMIT dataChanged(index(row, 0), index(row, 0));
}

uint32_t LiveModel::groupAt(int row) const {
  if (row < 0 || row >= rowCount() || rows_->groups().empty()) return UINT32_MAX;
  const uint32_t item = items_[static_cast<size_t>(row)];
  if ((item & kGroup) != 0) return item & ~kGroup;
  const auto& groups = rows_->groups();
  const auto next = std::ranges::upper_bound(groups, item, {}, &LiveRows::Group::first);
  return static_cast<uint32_t>(next - groups.begin() - 1);
}

trace::AllocationId LiveModel::allocationAt(int row) const {
  if (row < 0 || row >= rowCount()) return {};
  const uint32_t item = items_[static_cast<size_t>(row)];
  return (item & kGroup) != 0 ? rows_->groups()[item & ~kGroup].largest : rows_->blocks()[item].id;
}

timeline::Link LiveModel::link(int row) const {
  const trace::AllocationId id = allocationAt(row);
  if (!id.valid()) return {};
  return {timeline::Link::To::kAllocation, id.value};
}

int LiveModel::rowOf(trace::AllocationId id) const {
  if (rows_ == nullptr) return -1;
  const auto& blocks = rows_->blocks();
  const auto block = std::ranges::find(blocks, id, &analysis::LiveAllocation::id);
  if (block == blocks.end()) return -1;
  const auto place = static_cast<uint32_t>(block - blocks.begin());
  int group = -1;
  for (int row = 0; row < rowCount(); ++row) {
    const uint32_t item = items_[static_cast<size_t>(row)];
    if (item == place) return row;
    if ((item & kGroup) == 0) continue;
    const LiveRows::Group& g = rows_->groups()[item & ~kGroup];
    if (place >= g.first && place < g.first + g.count) group = row;
  }
  return group;
}

int LiveModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(items_.size());
}

const Row& LiveModel::Cached(int row) const {
  if (cached_row_ != row) {
    const uint32_t item = items_[static_cast<size_t>(row)];
    cached_ = (item & kGroup) != 0 ? rows_->GroupRow(item & ~kGroup) : rows_->BlockRow(item);
    cached_row_ = row;
  }
  return cached_;
}

const Cell* LiveModel::cell(int row, int column) const {
  const Row& cached = Cached(row);
  return static_cast<size_t>(column) < cached.cells.size()
             ? &cached.cells[static_cast<size_t>(column)]
             : nullptr;
}

QVariant LiveModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role == Qt::DecorationRole && index.column() == 0 && !rows_->groups().empty())
    return Fold(index.row());
  return CellData(Cached(index.row()), index.column(), role);
}

// Returns an image with the triangle of a group, or with the indent of a block. A text with them
// would be copied along with the name.
QPixmap LiveModel::Fold(int row) const {
  const bool group = isGroup(row);
  const std::optional<trace::Category> category =
      group ? rows_->groups()[groupAt(row)].category : std::nullopt;
  QPixmap pixmap(group && !category ? kFoldWidth : kFoldWidth + kIndent, kFoldHeight);
  pixmap.fill(Qt::transparent);
  if (!group) return pixmap;
  QPainter painter(&pixmap);
  if (category) painter.drawPixmap(kFoldWidth + 1, 2, Swatch(*category));
  painter.setRenderHint(QPainter::Antialiasing);
  QPainterPath triangle;
  if (unfolded(row)) {
    triangle.addPolygon(QPolygonF({{2, 4}, {10, 4}, {6, 9}}));
  } else {
    triangle.addPolygon(QPolygonF({{4, 2}, {9, 6}, {4, 10}}));
  }
  painter.fillPath(triangle, ToQColor(theme_.dim));
  return pixmap;
}

void LiveModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  Q_EMIT sortAsked(static_cast<LiveColumn>(column), order == Qt::DescendingOrder);
}

}  // namespace vramscope::ui
