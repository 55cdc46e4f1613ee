#include "ui/panels/table_panel.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QJsonArray>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QPixmap>
#include <QRegularExpression>
#include <QSet>
#include <algorithm>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kRowHeight = 23;
constexpr int kDumpRows = 5;
constexpr char kCategoryTitle[] = "Category";
// Of the column that takes the room that is left.
constexpr int kStretching = 200, kFits = 130, kNarrowest = 260, kWidest = 900;
constexpr qsizetype kMaxCopiedRows = 100'000;

}  // namespace

void RowModel::setTheme(const timeline::Theme& theme) {
  theme_ = theme;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int RowModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns().size());
}

QVariant RowModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const Column& column = columns()[static_cast<size_t>(section)];
  if (role == Qt::DisplayRole) return QString::fromStdString(column.title);
  if (role == Qt::ToolTipRole && *column.tip != '\0') return QString::fromUtf8(column.tip);
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((column.number || column.right ? Qt::AlignRight : Qt::AlignLeft) |
                               Qt::AlignVCenter);
  return {};
}

QPixmap RowModel::Swatch(trace::Category category) const {
  QPixmap swatch(9, 9);
  swatch.fill(ToQColor(theme_.category(category)));
  return swatch;
}

QVariant RowModel::CellData(const Row& row, int column, int role) const {
  if (column < 0 || column >= static_cast<int>(row.cells.size())) return {};
  const Cell& cell = row.cells[static_cast<size_t>(column)];
  const Column& head = columns()[static_cast<size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return QString::fromStdString(cell.text);
    case Qt::ToolTipRole:
      return cell.exact.empty() ? QVariant() : QVariant(QString::fromStdString(cell.exact));
    case Qt::TextAlignmentRole:
      return QVariant::fromValue((head.number || head.right ? Qt::AlignRight : Qt::AlignLeft) |
                                 Qt::AlignVCenter);
    case Qt::FontRole:
      return PanelFont(head.number  ? timeline::Font::kMono
                       : row.marked ? timeline::Font::kBodyBold
                                    : timeline::Font::kBody);
    case Qt::ForegroundRole:
      switch (cell.tone) {
        case Cell::Tone::kPlain:
          return ToQColor(theme_.text);
        case Cell::Tone::kDim:
          return ToQColor(theme_.dim);
        case Cell::Tone::kGood:
          return ToQColor(theme_.good);
        case Cell::Tone::kBad:
          return ToQColor(theme_.bad);
      }
      return {};
    default:
      return {};
  }
}

void TableModel::setTable(Table table) {
  beginResetModel();
  table_ = std::move(table);
  endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& row = table_.rows[static_cast<size_t>(index.row())];
  if (role == Qt::DecorationRole && row.has_category &&
      columns()[static_cast<size_t>(index.column())].title == kCategoryTitle)
    return Swatch(row.category);
  return CellData(row, index.column(), role);
}

void TableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  Q_EMIT layoutAboutToBeChanged();
  const auto c = static_cast<size_t>(column);
  std::stable_sort(table_.rows.begin(), table_.rows.end(), [&](const Row& x, const Row& y) {
    const Cell& a = (order == Qt::AscendingOrder ? x : y).cells[c];
    const Cell& b = (order == Qt::AscendingOrder ? y : x).cells[c];
    if (a.sort != b.sort) return a.sort < b.sort;
    return !columns()[c].number && a.text < b.text;
  });
  Q_EMIT layoutChanged();
}

AllocationModel::AllocationModel(QObject* parent)
    : RowModel(parent), columns_(AllocationColumns()) {}

void AllocationModel::setTrace(std::shared_ptr<const trace::Trace> trace) {
  beginResetModel();
  trace_ = std::move(trace);
  cached_id_ = UINT32_MAX;
  Rebuild();
  endResetModel();
}

void AllocationModel::setFilter(const QString& text) {
  beginResetModel();
  filter_ = text.trimmed().toLower().toStdString();
  Rebuild();
  endResetModel();
}

void AllocationModel::Rebuild() {
  order_.clear();
  if (trace_ == nullptr) return;
  const uint32_t n = trace_->allocations.size();
  order_.reserve(n);
  AllocationFilter filter(*trace_, filter_);
  for (uint32_t i = 0; i < n; ++i)
    if (filter_.empty() || filter.Matches(trace::AllocationId{i})) order_.push_back(i);
  const bool up = sort_order_ == Qt::AscendingOrder;
  if (sort_column_ == 0) {
    if (!up) std::reverse(order_.begin(), order_.end());
    return;
  }
  if (AllocationColumnIsText(sort_column_)) {
    // By the string's rank: many rows share few strings.
    auto text = [&](uint32_t i) {
      return AllocationSortText(*trace_, trace::AllocationId{i}, sort_column_);
    };
    std::vector<std::pair<std::string, uint32_t>> keyed;
    keyed.reserve(order_.size());
    for (uint32_t i : order_) keyed.emplace_back(text(i), i);
    std::stable_sort(keyed.begin(), keyed.end(), [up](const auto& x, const auto& y) {
      return up ? x.first < y.first : x.first > y.first;
    });
    for (size_t k = 0; k < keyed.size(); ++k) order_[k] = keyed[k].second;
    return;
  }
  std::vector<double> key(n);
  for (uint32_t i : order_)
    key[i] = AllocationSortKey(*trace_, trace::AllocationId{i}, sort_column_);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](uint32_t x, uint32_t y) { return up ? key[x] < key[y] : key[x] > key[y]; });
}

int AllocationModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

QVariant AllocationModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const uint32_t id = order_[static_cast<size_t>(index.row())];
  if (cached_id_ != id) {
    cached_ = AllocationRow(*trace_, trace::AllocationId{id});
    cached_id_ = id;
  }
  if (role == Qt::DecorationRole &&
      columns_[static_cast<size_t>(index.column())].title == kCategoryTitle)
    return Swatch(cached_.category);
  return CellData(cached_, index.column(), role);
}

void AllocationModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  beginResetModel();
  sort_column_ = column;
  sort_order_ = order;
  Rebuild();
  endResetModel();
}

trace::AllocationId AllocationModel::at(int row) const {
  return row >= 0 && row < rowCount() ? trace::AllocationId{order_[static_cast<size_t>(row)]}
                                      : trace::AllocationId{};
}

int AllocationModel::rowOf(trace::AllocationId id) const {
  const auto found = std::find(order_.begin(), order_.end(), id.value);
  return found == order_.end() ? -1 : static_cast<int>(found - order_.begin());
}

uint32_t AllocationModel::total() const { return trace_ ? trace_->allocations.size() : 0; }

TableView::TableView(QWidget* parent) : QTableView(parent) {
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setShowGrid(false);
  setWordWrap(false);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  setCornerButtonEnabled(false);
  setTabKeyNavigation(false);
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  verticalHeader()->setDefaultSectionSize(kRowHeight);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setFont(PanelFont(timeline::Font::kSmallBold));
  horizontalHeader()->setFixedHeight(26);
  horizontalHeader()->setStretchLastSection(false);
}

void TableView::setRowModel(RowModel* model) {
  rows_ = model;
  setModel(model);
  const auto widths = [this] {
    fitting_ = true;
    for (int c = 0; c < rows_->columnCount(); ++c)
      setColumnWidth(c, rows_->columns()[static_cast<size_t>(c)].width);
    fitting_ = false;
    by_hand_ = false;
    FitWidest();
  };
  connect(horizontalHeader(), &QHeaderView::sectionResized, this,
          [this] { by_hand_ = by_hand_ || !fitting_; });
  widths();
  // The columns of a table come with its first rows.
  connect(model, &QAbstractItemModel::modelReset, this, [this, widths, known = 0]() mutable {
    if (known == rows_->columnCount()) return;
    known = rows_->columnCount();
    widths();
  });
}

// The widest column of text takes the room that the others leave, until a hand has moved one.
void TableView::FitWidest() {
  if (rows_ == nullptr || by_hand_) return;
  int widest = -1, others = 0;
  for (int c = 0; c < rows_->columnCount(); ++c) {
    const Column& column = rows_->columns()[static_cast<size_t>(c)];
    others += columnWidth(c);
    if (!column.number && !column.right && column.width >= kStretching &&
        (widest < 0 || column.width > rows_->columns()[static_cast<size_t>(widest)].width))
      widest = c;
  }
  if (widest < 0) return;
  others -= columnWidth(widest);
  fitting_ = true;
  // Where all of it can't be seen at once, what scrolls may as well be readable.
  const int room = viewport()->width() - others;
  setColumnWidth(widest, room < kFits ? kNarrowest : std::min(room, kWidest));
  fitting_ = false;
}

void TableView::setEmptyText(const QString& text) {
  empty_text_ = text;
  viewport()->update();
}

void TableView::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  if (rows_ == nullptr || rows_->rowCount() > 0 || empty_text_.isEmpty()) return;
  QPainter painter(viewport());
  painter.setFont(PanelFont(timeline::Font::kBody));
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(viewport()->rect().adjusted(11, 12, -11, 0),
                   Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap, empty_text_);
}

void TableView::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  FitWidest();
}

QList<int> TableView::SelectedLines() const {
  QList<int> lines;
  if (rows_ == nullptr || selectionModel() == nullptr) return lines;
  for (const QModelIndex& index : selectionModel()->selectedRows()) lines << index.row();
  std::sort(lines.begin(), lines.end());
  if (lines.isEmpty())  // nothing is chosen: all of it
    for (int row = 0; row < rows_->rowCount(); ++row) lines << row;
  if (lines.size() > kMaxCopiedRows) lines.resize(kMaxCopiedRows);
  return lines;
}

// Figures as they are, with the unit in the head, where a cell knows them exactly.
QString TableView::selectionAsCsv() const {
  if (rows_ == nullptr) return {};
  const QList<int> lines = SelectedLines();
  const auto exact = [this](int row, int c) -> QString {
    const QString tip = rows_->index(row, c).data(Qt::ToolTipRole).toString();
    static const QRegularExpression bytes(QStringLiteral("^[+-]?[0-9,]+ B"));
    QString number = bytes.match(tip).captured();
    return number.remove(QRegularExpression(QStringLiteral("[+, B]")));
  };
  const auto quoted = [](QString text) {
    static const QRegularExpression special(QStringLiteral("[\",\n\r]"));
    if (!text.contains(special)) return text;
    return QStringLiteral("\"%1\"").arg(text.replace(QLatin1Char('"'), QStringLiteral("\"\"")));
  };
  QStringList head, out;
  std::vector<bool> in_bytes;
  for (int c = 0; c < rows_->columnCount(); ++c) {
    const Column& column = rows_->columns()[static_cast<size_t>(c)];
    in_bytes.push_back(column.number && std::any_of(lines.begin(), lines.end(), [&](int row) {
                         return !exact(row, c).isEmpty();
                       }));
    head << quoted(QString::fromStdString(column.title) +
                   (in_bytes.back() ? QStringLiteral(" [B]") : QString()));
  }
  out << head.join(QLatin1Char(','));
  for (int line : lines) {
    QStringList cells;
    for (int c = 0; c < rows_->columnCount(); ++c) {
      QString text = rows_->index(line, c).data().toString();
      if (in_bytes[static_cast<size_t>(c)]) {
        text = exact(line, c);
      } else if (rows_->columns()[static_cast<size_t>(c)].number) {
        static const QRegularExpression count(QStringLiteral("^[0-9,]+$"));
        if (count.match(text).hasMatch()) text.remove(QLatin1Char(','));
      }
      cells << quoted(text);
    }
    out << cells.join(QLatin1Char(','));
  }
  return out.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

QString TableView::selectionAsTsv() const {
  if (rows_ == nullptr) return {};
  const QList<int> lines = SelectedLines();
  QStringList out;
  QStringList head;
  for (const Column& column : rows_->columns()) head << QString::fromStdString(column.title);
  out << head.join(QLatin1Char('\t'));
  for (int line : lines) {
    QStringList cells;
    for (int c = 0; c < rows_->columnCount(); ++c)
      cells << rows_->index(line, c).data().toString().replace(QLatin1Char('\t'), QLatin1Char(' '));
    out << cells.join(QLatin1Char('\t'));
  }
  return out.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void TableView::copySelection() const { QGuiApplication::clipboard()->setText(selectionAsTsv()); }
void TableView::copyAsCsv() const { QGuiApplication::clipboard()->setText(selectionAsCsv()); }

// Numbers begin with the largest; again turns it round.
void TableView::sortByCurrentColumn() {
  const int column = std::max(0, currentIndex().column());
  if (!isSortingEnabled() || rows_ == nullptr || column >= rows_->columnCount()) return;
  const QHeaderView* header = horizontalHeader();
  const bool again = header->sortIndicatorSection() == column;
  const bool down = again ? header->sortIndicatorOrder() == Qt::AscendingOrder
                          : rows_->columns()[static_cast<size_t>(column)].number;
  sortByColumn(column, down ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void TableView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copySelection();
  } else if (event->key() == Qt::Key_C &&
             event->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier)) {
    copyAsCsv();
  } else if (event->key() == Qt::Key_S && event->modifiers() == Qt::NoModifier) {
    sortByCurrentColumn();
  } else {
    QTableView::keyPressEvent(event);
  }
}

void TableView::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  menu.addAction(tr("Copy rows\tCtrl+C"), this, &TableView::copySelection);
  menu.addAction(tr("Copy as CSV, exact\tCtrl+Shift+C"), this, &TableView::copyAsCsv);
  if (isSortingEnabled())
    menu.addAction(tr("Sort by this column\tS"), this, &TableView::sortByCurrentColumn);
  menu.exec(event->globalPos());
}

QJsonObject TableView::dumpState() const {
  if (rows_ == nullptr) return {};
  QJsonArray first;
  for (int r = 0; r < std::min(rows_->rowCount(), kDumpRows); ++r) {
    QJsonArray cells;
    for (int c = 0; c < rows_->columnCount(); ++c)
      cells.append(rows_->index(r, c).data().toString());
    first.append(cells);
  }
  QJsonArray columns;
  for (const Column& column : rows_->columns())
    columns.append(QString::fromStdString(column.title));
  return {{"rows", rows_->rowCount()},
          {"columns", columns},
          {"first", first},
          {"empty", rows_->rowCount() == 0 ? empty_text_ : QString()}};
}

}  // namespace vramscope::ui
