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
#include <algorithm>
#include <numeric>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kRowHeight = 23;
constexpr int kDumpRows = 5;
constexpr int kSampledRows = 48;  // number of rows that are measured to find the width of a column
constexpr int kCellPadding = 24;
constexpr int kSwatch = 16;
// minimum and maximum widths, in pixels, of the text column that fills the table
constexpr int kStretching = 200, kFits = 180, kNarrowest = 260, kWidest = 900;
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
  if (role == Qt::ToolTipRole && !column.tip.empty()) return ToQString(column.tip);
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
    case Qt::DecorationRole:
      return cell.category ? QVariant(Swatch(*cell.category)) : QVariant();
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

// After sorting, updates the model indexes of the selection and of the current row.
void RowModel::MovePersistent(const std::function<int(int)>& to) {
  const QModelIndexList before = persistentIndexList();
  QModelIndexList after;
  after.reserve(before.size());
  for (const QModelIndex& each : before) after << index(to(each.row()), each.column());
  changePersistentIndexList(before, after);
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
  return CellData(table_.rows[static_cast<size_t>(index.row())], index.column(), role);
}

timeline::Link TableModel::link(int row) const {
  using To = timeline::Link::To;
  if (row < 0 || row >= rowCount()) return {};
  const Row& of = table_.rows[static_cast<size_t>(row)];
  if (of.allocation.valid()) return {To::kAllocation, of.allocation.value};
  if (of.activity != UINT32_MAX) return {To::kActivity, of.activity};
  if (of.slice != UINT32_MAX) return {To::kSlice, of.slice};
  return {};
}

void TableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
  const auto c = static_cast<size_t>(column);
  std::vector<size_t> from(table_.rows.size());  // the previous position of each row
  std::iota(from.begin(), from.end(), size_t{0});
  std::stable_sort(from.begin(), from.end(), [&](size_t x, size_t y) {
    const Cell& a = table_.rows[order == Qt::AscendingOrder ? x : y].cells[c];
    const Cell& b = table_.rows[order == Qt::AscendingOrder ? y : x].cells[c];
    if (a.sort != b.sort) return a.sort < b.sort;
    return !columns()[c].number && a.text < b.text;
  });
  std::vector<Row> rows;
  rows.reserve(from.size());
  std::vector<int> to(from.size());
  for (const size_t row : from) {
    to[row] = static_cast<int>(rows.size());
    rows.push_back(std::move(table_.rows[row]));
  }
  table_.rows = std::move(rows);
  MovePersistent([&](int row) { return to[static_cast<size_t>(row)]; });
  Q_EMIT layoutChanged({}, VerticalSortHint);
}

const Cell* TableModel::cell(int row, int column) const {
  const auto& cells = table_.rows[static_cast<size_t>(row)].cells;
  return static_cast<size_t>(column) < cells.size() ? &cells[static_cast<size_t>(column)] : nullptr;
}

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
  connect(horizontalHeader(), &QHeaderView::sectionResized, this,
          [this] { by_hand_ = by_hand_ || !fitting_; });
  FitColumns();
  // New rows may need other column widths. If the number of columns has changed, reset all widths.
  connect(model, &QAbstractItemModel::modelReset, this, [this, known = 0]() mutable {
    if (known != rows_->columnCount()) by_hand_ = false;
    known = rows_->columnCount();
    FitColumns();
  });
  connect(model, &QAbstractItemModel::layoutChanged, this, &TableView::FitColumns);
}

// Makes columns of figures as wide as their texts, and empty columns narrow. Does nothing if the
// user has resized a column.
void TableView::FitColumns() {
  if (rows_ == nullptr || by_hand_) return;
  fitting_ = true;
  wanted_.clear();
  const int sampled = std::min(rows_->rowCount(), kSampledRows);
  const QFontMetrics head(horizontalHeader()->font());
  for (int c = 0; c < rows_->columnCount(); ++c) {
    const Column& column = rows_->columns()[static_cast<size_t>(c)];
    const QFontMetrics metrics(
        PanelFont(column.number ? timeline::Font::kMono : timeline::Font::kBody));
    int widest = 0;
    for (int r = 0; r < sampled; ++r) {
      const Cell* cell = rows_->cell(r, c);
      if (cell == nullptr || cell->text.empty()) continue;
      widest = std::max(widest, metrics.horizontalAdvance(QString::fromStdString(cell->text)) +
                                    (cell->category ? kSwatch : 0));
    }
    const int title =
        head.horizontalAdvance(QString::fromStdString(column.title)) + kCellPadding + kSwatch;
    int width = column.width;
    if (sampled > 0 && widest == 0) {
      width = std::min(width, title);
    } else if (column.number || column.right || column.width < kStretching) {
      width = std::max({column.number ? 0 : width, widest + kCellPadding, title});
    }
    setColumnWidth(c, width);
    wanted_.push_back(widest + kCellPadding);
  }
  fitting_ = false;
  FitWidest();
}

// Gives the remaining width to the widest text column, unless the user has resized a column.
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
  // If the remaining width is too small, the column stays readable, and the table scrolls.
  const int room = viewport()->width() - others;
  // the width that the longest text needs
  const int wanted = static_cast<size_t>(widest) < wanted_.size()
                         ? wanted_[static_cast<size_t>(widest)]
                         : kNarrowest;
  setColumnWidth(widest, room < std::min(kFits, wanted)
                             ? kNarrowest
                             : std::min(room, std::max(kWidest, wanted)));
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
  painter.setPen(HintColor(palette().color(QPalette::Text)));
  constexpr int kFlags = Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap;
  QRect room = viewport()->rect().adjusted(11, 12, -11, 0);
  const int height = painter.boundingRect(room, kFlags, empty_text_).height();
  if (height > room.height()) room.setTop(std::max(0, room.bottom() + 1 - height));
  painter.drawText(room, kFlags, empty_text_);
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
  if (lines.isEmpty())  // nothing is selected: use all rows
    for (int row = 0; row < rows_->rowCount(); ++row) lines << row;
  if (lines.size() > kMaxCopiedRows) lines.resize(kMaxCopiedRows);
  return lines;
}

namespace {

// The unit of a CSV column, determined from its cells.
enum class Unit { kText, kBytes, kNs, kPercent, kCount };

Unit UnitOf(const Cell& cell) {
  return cell.bytes     ? Unit::kBytes
         : cell.ns      ? Unit::kNs
         : cell.percent ? Unit::kPercent
         : cell.count   ? Unit::kCount
                        : Unit::kText;
}

QString InHead(Unit unit) {
  switch (unit) {
    case Unit::kBytes:
      return QStringLiteral(" [B]");
    case Unit::kNs:
      return QStringLiteral(" [ns]");
    case Unit::kPercent:
      return QStringLiteral(" [%]");
    case Unit::kText:
    case Unit::kCount:
      break;
  }
  return {};
}

// Returns the cell's figure in this unit, or an empty text if it has none, such as a lifetime "to
// the end".
QString Figure(const Cell& cell, Unit unit) {
  if (unit == Unit::kBytes && cell.bytes) return QString::number(*cell.bytes);
  if (unit == Unit::kNs && cell.ns) return QString::number(*cell.ns);
  if (unit == Unit::kPercent && cell.percent) return QString::number(*cell.percent, 'f', 4);
  if (unit == Unit::kCount && cell.count) return QString::number(*cell.count);
  return {};
}

QString QuotedForCsv(QString text) {
  static const QRegularExpression special(QStringLiteral("[\",\n\r]"));
  if (!text.contains(special)) return text;
  return QStringLiteral("\"%1\"").arg(text.replace(QLatin1Char('"'), QStringLiteral("\"\"")));
}

// Joins the lines of `text` and escapes Markdown's special characters.
QString QuotedForMarkdown(QString text) {
  static const QRegularExpression breaks(QStringLiteral("[\\s\\x00-\\x1f]+"));
  static const QRegularExpression special(QStringLiteral("([\\\\`*_{}\\[\\]<>|#~&])"));
  return text.replace(breaks, QStringLiteral(" ")).replace(special, QStringLiteral("\\\\1"));
}

}  // namespace

// Of each cell, writes the exact figure if it has one, without a unit. The header states the unit.
QString TableView::selectionAsCsv() const {
  if (rows_ == nullptr) return {};
  const QList<int> lines = SelectedLines();
  QStringList head, out;
  std::vector<Unit> units;
  for (int c = 0; c < rows_->columnCount(); ++c) {
    Unit unit = Unit::kText;
    for (int i = 0; i < lines.size() && unit == Unit::kText; ++i)
      if (const Cell* cell = rows_->cell(lines[i], c)) unit = UnitOf(*cell);
    units.push_back(unit);
    head << QuotedForCsv(QString::fromStdString(rows_->columns()[static_cast<size_t>(c)].title) +
                         InHead(unit));
  }
  out << head.join(QLatin1Char(','));
  for (int line : lines) {
    QStringList cells;
    for (int c = 0; c < rows_->columnCount(); ++c) {
      const Unit unit = units[static_cast<size_t>(c)];
      const Cell* cell = rows_->cell(line, c);
      cells << (cell == nullptr       ? QString()
                : unit == Unit::kText ? QuotedForCsv(QString::fromStdString(cell->text))
                                      : Figure(*cell, unit));
    }
    out << cells.join(QLatin1Char(','));
  }
  return out.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

QString TableView::selectionAsMarkdown() const {
  if (rows_ == nullptr) return {};
  const auto line = [](const QStringList& cells) {
    return QStringLiteral("| %1 |\n").arg(cells.join(QStringLiteral(" | ")));
  };
  QStringList head, rule;
  for (const Column& column : rows_->columns()) {
    head << QuotedForMarkdown(QString::fromStdString(column.title));
    rule << (column.number || column.right ? QStringLiteral("---:") : QStringLiteral("---"));
  }
  QString out = line(head) + line(rule);
  for (const int row : SelectedLines()) {
    QStringList cells;
    for (int c = 0; c < rows_->columnCount(); ++c)
      cells << QuotedForMarkdown(rows_->index(row, c).data().toString());
    out += line(cells);
  }
  return out;
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
void TableView::copyAsMarkdown() const {
  QGuiApplication::clipboard()->setText(selectionAsMarkdown());
}

// Sorts numbers with the largest first. Sorting by the same column again reverses the order.
void TableView::sortByCurrentColumn() {
  const int column = std::max(0, currentIndex().column());
  if (!isSortingEnabled() || rows_ == nullptr || column >= rows_->columnCount()) return;
  const QHeaderView* header = horizontalHeader();
  const bool again = header->sortIndicatorSection() == column;
  const bool down = again ? header->sortIndicatorOrder() == Qt::AscendingOrder
                          : rows_->columns()[static_cast<size_t>(column)].number;
  sortByColumn(column, down ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void TableView::sortAsBefore() {
  const int column = horizontalHeader()->sortIndicatorSection();
  if (rows_ != nullptr && column >= 0 && column < rows_->columnCount())
    rows_->sort(column, horizontalHeader()->sortIndicatorOrder());
}

bool TableView::step(int direction) {
  const int rows = rows_ == nullptr ? 0 : rows_->rowCount();
  if (rows == 0) return false;
  const QModelIndex now = currentIndex();
  int row = now.isValid() ? now.row() + direction : direction > 0 ? 0 : rows - 1;
  row = (row + rows) % rows;
  setCurrentIndex(rows_->index(row, now.isValid() ? now.column() : 0));
  return true;
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
  const QModelIndex at =
      event->reason() == QContextMenuEvent::Keyboard ? currentIndex() : indexAt(event->pos());
  std::unique_ptr<QMenu> menu;
  if (link_menu_ && rows_ != nullptr && at.isValid())
    menu.reset(link_menu_(rows_->link(at.row()), this));
  if (menu == nullptr)
    menu = std::make_unique<QMenu>(this);
  else
    menu->addSeparator();
  menu->addAction(tr("Copy rows\tCtrl+C"), this, &TableView::copySelection);
  menu->addAction(tr("Copy as CSV with exact numbers\tCtrl+Shift+C"), this, &TableView::copyAsCsv);
  menu->addAction(tr("Copy as Markdown"), this, &TableView::copyAsMarkdown);
  if (isSortingEnabled())
    menu->addAction(tr("Sort by this column\tS"), this, &TableView::sortByCurrentColumn);
  menu->exec(event->globalPos());
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
