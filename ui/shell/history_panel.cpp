#include "ui/shell/history_panel.h"

#include <QContextMenuEvent>
#include <QDateTime>
#include <QDrag>
#include <QDragEnterEvent>
#include <QJsonObject>
#include <QKeyEvent>
#include <QLocale>
#include <QMenu>
#include <QMimeData>
#include <QPainter>
#include <QTextDocument>
#include <QVBoxLayout>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr const char* kEntryMime = "application/x-vramscope-history-entry";
constexpr int kRowMargin = 15, kEntryHeight = 40, kFigureGap = 8;
constexpr double kNsPerMs = 1e6;

QString ShortBytes(uint64_t bytes) {
  return QString::fromStdString(timeline::FormatBytesShort(bytes));
}

// Returns the text of the first entry, which has no previous result that it could be compared with.
QString FirstText(SourceKind kind) {
  switch (kind) {
    case SourceKind::kPlan:
      return HistoryPanel::tr("Plan");
    case SourceKind::kGpuRun:
      return HistoryPanel::tr("Run on the GPU");
    case SourceKind::kFile:
      return HistoryPanel::tr("Opened");
    case SourceKind::kProgram:
      return HistoryPanel::tr("Run");
  }
  return {};
}

QString Clock(int64_t unix_s) {
  const QDateTime when = QDateTime::fromSecsSinceEpoch(unix_s);
  return when.date() == QDate::currentDate()
             ? when.toString(QStringLiteral("hh:mm:ss"))
             : QLocale().toString(when, QStringLiteral("d MMM hh:mm"));
}

HistoryPanel::Row RowOf(const HistoryEntry& entry, const HistoryEntry* before, SourceKind kind) {
  HistoryPanel::Row row{
      .change = entry.change.empty() ? FirstText(kind) : QString::fromStdString(entry.change),
      .clock = Clock(entry.when_unix_s),
      .allocated = ShortBytes(entry.peak_allocated)};
  if (entry.peak_reserved > 0) row.reserved = ShortBytes(entry.peak_reserved);  // 0: unknown
  if (entry.step_ms > 0)
    row.time = QString::fromStdString(
        timeline::FormatDuration(static_cast<int64_t>(entry.step_ms * kNsPerMs)));
  if (before != nullptr) {
    row.less =
        static_cast<int64_t>(entry.peak_allocated) - static_cast<int64_t>(before->peak_allocated);
    if (row.less != 0)
      row.difference = (row.less < 0 ? QStringLiteral("\u2212%1") : QStringLiteral("+%1"))
                           .arg(ShortBytes(static_cast<uint64_t>(std::abs(row.less))));
  }
  QStringList tip{
      row.change,
      HistoryPanel::tr("Peak allocated %1")
          .arg(QString::fromStdString(timeline::FormatBytesExact(entry.peak_allocated)))};
  if (entry.peak_reserved > 0)
    tip << HistoryPanel::tr("Peak reserved %1")
               .arg(QString::fromStdString(timeline::FormatBytesExact(entry.peak_reserved)));
  row.notes = static_cast<int>(entry.notes);
  if (row.notes > 0) tip << HistoryPanel::tr("Notes: %1 (on the Notes page)").arg(row.notes);
  for (const QString& text :
       QString::fromStdString(entry.note_texts).split(QLatin1Char('\n'), Qt::SkipEmptyParts))
    tip << QStringLiteral("\u2013 %1").arg(text);
  if (!row.time.isEmpty()) tip << HistoryPanel::tr("The last step took %1").arg(row.time);
  if (!entry.file.empty()) tip << QString::fromStdString(entry.file);
  row.tip = tip.join(QLatin1Char('\n'));
  // Qt would take this text for HTML, so convert it.
  if (Qt::mightBeRichText(row.tip)) row.tip = Qt::convertFromPlainText(row.tip);
  return row;
}

// Draws a flag, like those on the ruler, and the number of notes.
void Flag(int notes, const timeline::Theme& theme, QPainter* painter, QRect* in) {
  constexpr int kPennant = 8, kPole = 11;
  const QString text = QString::number(notes);
  const int width = painter->fontMetrics().horizontalAdvance(text);
  painter->setPen(ToQColor(theme.dim));
  painter->drawText(*in, Qt::AlignRight | Qt::AlignVCenter, text);
  const int x = in->right() - width - kPennant - 5, y = in->center().y() - kPole / 2;
  painter->fillRect(QRect(x, y, 1, kPole), ToQColor(theme.accent));
  painter->fillRect(QRect(x, y, kPennant, kPole / 2 + 1), ToQColor(theme.accent));
  in->setRight(x - kFigureGap);
}

}  // namespace

HistoryPanel::HistoryPanel(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("history"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(MakeLine());
  QLabel* heading = MakeLabel(tr("HISTORY"), LabelRole::kHeading);
  heading->setContentsMargins(kRowMargin, 8, kRowMargin, 4);
  column->addWidget(heading);
  model_ = new HistoryModel(this);
  view_ = new HistoryView(model_);
  column->addWidget(view_, 1);
  connect(view_, &HistoryView::chosen, this, &HistoryPanel::chosen);
  connect(view_, &HistoryView::compareRequested, this, &HistoryPanel::compareRequested);
}

QListView* HistoryPanel::list() const { return view_; }

void HistoryPanel::setTheme(const timeline::Theme& theme) {
  static_cast<HistoryDelegate*>(view_->itemDelegate())->theme = theme;
  view_->viewport()->update();
}

void HistoryPanel::setHistory(const Document& document) {
  std::vector<Row> rows;
  const std::vector<HistoryEntry>& entries = document.history.entries();
  for (size_t i = 0; i < entries.size(); ++i) {
    rows.push_back(RowOf(entries[i], i == 0 ? nullptr : &entries[i - 1], document.source.kind));
    rows.back().current = i == document.history.current();
  }
  if (rows == model_->rows()) return;
  model_->setRows(std::move(rows));
  const QModelIndex current = model_->index(model_->current());
  view_->setCurrentIndex(current);
  view_->scrollTo(current);
}

QJsonArray HistoryPanel::dumpState() const {
  QJsonArray out;
  for (const Row& row : model_->rows())
    out.append(QJsonObject{{"change", row.change},
                           {"peak", row.allocated},
                           {"reserved", row.reserved},
                           {"step", row.time},
                           {"difference", row.difference},
                           {"notes", row.notes},
                           {"current", row.current}});
  return out;
}

int HistoryModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int HistoryModel::current() const {
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].current) return static_cast<int>(i);
  return -1;
}

QVariant HistoryModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const HistoryPanel::Row& row = rows_[static_cast<size_t>(index.row())];
  if (role == Qt::ToolTipRole) return row.tip;
  // Screen readers read this text.
  if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
    return QStringLiteral("%1, %2, %3").arg(row.change, row.allocated, row.clock);
  return {};
}

Qt::ItemFlags HistoryModel::flags(const QModelIndex& index) const {
  return index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled |
                               Qt::ItemIsDropEnabled
                         : Qt::NoItemFlags;
}

void HistoryModel::setRows(std::vector<HistoryPanel::Row> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

QSize HistoryDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
  return {100, kEntryHeight};
}

// Draws two lines: the first with the change and the time of day, the second with the figures.
void HistoryDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
  const HistoryPanel::Row& row = model_->rows()[static_cast<size_t>(index.row())];
  painter->save();
  if (row.current)
    painter->fillRect(option.rect,
                      ToQColor(timeline::Mix(theme.panel, theme.accent, theme.dark ? 0.16 : 0.14)));
  else if ((option.state & (QStyle::State_MouseOver | QStyle::State_HasFocus)) != 0 &&
           (option.state & (QStyle::State_MouseOver | QStyle::State_Selected)) != 0)
    painter->fillRect(option.rect, ToQColor(theme.raised));
  if (row.current)
    painter->fillRect(QRect(option.rect.topLeft(), QSize(2, option.rect.height())),
                      ToQColor(theme.accent));
  const QRect inside = option.rect.adjusted(kRowMargin, 3, -kRowMargin, -3);
  QRect above(inside.left(), inside.top(), inside.width(), inside.height() / 2);
  QRect below = above.translated(0, inside.height() / 2);
  const auto right = [&](QRect* in, const QString& text, timeline::Color color) {
    if (text.isEmpty()) return;
    painter->setPen(ToQColor(color));
    painter->drawText(*in, Qt::AlignRight | Qt::AlignVCenter, text);
    in->setRight(in->right() - painter->fontMetrics().horizontalAdvance(text) - kFigureGap);
  };
  painter->setFont(PanelFont(timeline::Font::kMonoSmall));
  right(&above, row.clock, theme.dim);
  right(&below, row.time, theme.dim);
  if (row.notes > 0) Flag(row.notes, theme, painter, &below);
  const QString figures = row.allocated == row.reserved || row.reserved.isEmpty()
                              ? row.allocated
                              : HistoryPanel::tr("%1 of %2").arg(row.allocated, row.reserved);
  painter->setPen(ToQColor(theme.text));
  painter->drawText(below, Qt::AlignLeft | Qt::AlignVCenter, figures);
  below.setLeft(below.left() + painter->fontMetrics().horizontalAdvance(figures) + kFigureGap);
  painter->setPen(ToQColor(row.less < 0 ? theme.good : theme.bad));
  if (painter->fontMetrics().horizontalAdvance(row.difference) <= below.width())
    painter->drawText(below, Qt::AlignLeft | Qt::AlignVCenter, row.difference);
  painter->setFont(PanelFont(row.current ? timeline::Font::kBodyBold : timeline::Font::kBody));
  painter->setPen(ToQColor(theme.text));
  painter->drawText(above, Qt::AlignLeft | Qt::AlignVCenter,
                    painter->fontMetrics().elidedText(row.change, Qt::ElideRight, above.width()));
  painter->restore();
}

HistoryView::HistoryView(HistoryModel* model) : model_(model) {
  setObjectName(QStringLiteral("historyList"));
  setModel(model);
  setItemDelegate(new HistoryDelegate(model, this));
  setFrameShape(QFrame::NoFrame);
  setMouseTracking(true);
  setUniformItemSizes(true);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setDragEnabled(true);
  setAcceptDrops(true);
  setAccessibleName(HistoryPanel::tr("History"));
  connect(this, &QAbstractItemView::clicked, this,
          [this](const QModelIndex& index) { Q_EMIT chosen(static_cast<size_t>(index.row())); });
}

void HistoryView::keyPressEvent(QKeyEvent* event) {
  const QModelIndex index = currentIndex();
  const int current = model_->current();
  if (index.isValid() && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
    Q_EMIT chosen(static_cast<size_t>(index.row()));
  } else if (index.isValid() && event->key() == Qt::Key_C && event->modifiers() == Qt::NoModifier &&
             current >= 0 && current != index.row()) {
    Q_EMIT compareRequested(static_cast<size_t>(current), static_cast<size_t>(index.row()));
  } else {
    QListView::keyPressEvent(event);
  }
}

void HistoryView::contextMenuEvent(QContextMenuEvent* event) {
  const QModelIndex index = indexAt(event->pos());
  if (!index.isValid()) return;
  const auto at = static_cast<size_t>(index.row());
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(HistoryPanel::tr("Show"), this, [this, at] { Q_EMIT chosen(at); });
  QMenu* compare = menu->addMenu(HistoryPanel::tr("Compare with"));
  compare->setEnabled(model_->rows().size() > 1);
  for (size_t other = model_->rows().size(); other-- > 0;)
    if (other != at)
      compare->addAction(
          QStringLiteral("%1   %2").arg(model_->rows()[other].change, model_->rows()[other].clock),
          this, [this, at, other] { Q_EMIT compareRequested(at, other); });
  menu->popup(event->globalPos());
}

void HistoryView::startDrag(Qt::DropActions) {
  const QModelIndex index = currentIndex();
  if (!index.isValid()) return;
  auto* data = new QMimeData;
  data->setData(QLatin1String(kEntryMime), QByteArray::number(index.row()));
  auto* drag = new QDrag(this);
  drag->setMimeData(data);
  drag->setPixmap(viewport()->grab(visualRect(index)));
  drag->exec(Qt::CopyAction);
}

void HistoryView::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasFormat(QLatin1String(kEntryMime))) event->acceptProposedAction();
}

void HistoryView::dragMoveEvent(QDragMoveEvent* event) {
  const QModelIndex onto = indexAt(event->position().toPoint());
  const int from = event->mimeData()->data(QLatin1String(kEntryMime)).toInt();
  event->setAccepted(onto.isValid() && onto.row() != from);
}

void HistoryView::dropEvent(QDropEvent* event) {
  const QModelIndex onto = indexAt(event->position().toPoint());
  const int from = event->mimeData()->data(QLatin1String(kEntryMime)).toInt();
  if (!onto.isValid() || from < 0 || from >= model_->rowCount() || onto.row() == from) return;
  event->acceptProposedAction();
  Q_EMIT compareRequested(static_cast<size_t>(onto.row()), static_cast<size_t>(from));
}

}  // namespace vramscope::ui
