#include "ui/panels/allocations_panel.h"

#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

// The timeline marks the matches after typing has paused; the table changes with every key.
constexpr int kSendMs = 120;
// With fewer allocations than this, the search runs on the UI thread.
constexpr uint32_t kInline = 50'000;
constexpr int kNarrowMs = 80;  // delay while a range is dragged

QString Number(size_t n) { return QString::fromStdString(timeline::FormatCount(n)); }

}  // namespace

AllocationsPanel::AllocationsPanel(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(15, 6, 15, 4);
  line->setSpacing(6);
  search_ = new QLineEdit;
  search_->setObjectName(QStringLiteral("allocationFilter"));
  search_->setPlaceholderText(
      tr("Find module, op, frame, category; or size > 10 MiB and phase = backward"));
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(380);
  search_->installEventFilter(this);
  line->addWidget(search_, 1);
  const auto button = [&](const char* name, const QString& text, const QString& tip, int way) {
    auto* made = new QToolButton;
    made->setObjectName(QString::fromLatin1(name));
    made->setProperty("role", "quiet");
    made->setText(text);
    made->setToolTip(tip);
    made->setEnabled(false);
    connect(made, &QToolButton::clicked, this, [this, way] { step(way); });
    line->addWidget(made);
    return made;
  };
  previous_ =
      button("findPrevious", QStringLiteral("↑"), tr("Previous match (Shift+F3, Shift+Enter)"), -1);
  next_ = button("findNext", QStringLiteral("↓"), tr("Next match (F3, Enter)"), 1);
  count_ = MakeLabel({}, LabelRole::kDim);
  count_->setObjectName(QStringLiteral("allocationCount"));
  line->addWidget(count_);
  leave_ = new QToolButton;
  leave_->setObjectName(QStringLiteral("leaveAllocationsRange"));
  leave_->setProperty("role", "chip");
  leave_->setFont(PanelFont(timeline::Font::kSmall));
  leave_->setToolTip(tr("Leave the range: show all allocations again (Esc)"));
  leave_->hide();
  connect(leave_, &QToolButton::clicked, this, &AllocationsPanel::rangeLeft);
  line->addWidget(leave_);
  line->addStretch();
  column->addLayout(line);

  model_ = new AllocationModel(this);
  view_ = new TableView;
  view_->setObjectName(QStringLiteral("allocationsTable"));
  view_->setRowModel(model_);
  view_->setSortingEnabled(true);
  view_->sortByColumn(kBlockColumn, Qt::DescendingOrder);
  auto* inset = new QHBoxLayout;  // aligns the first column with the tabs
  inset->setContentsMargins(4, 0, 4, 0);
  inset->addWidget(view_);
  column->addLayout(inset, 1);

  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            Count();
            if (selecting_ || !now.isValid()) return;
            Q_EMIT allocationClicked(model_->at(now.row()));
          });
  connect(search_, &QLineEdit::textChanged, this, [this] {
    make();
    Narrow();
  });
  send_later_.setSingleShot(true);
  send_later_.setInterval(kSendMs);
  connect(&send_later_, &QTimer::timeout, this, &AllocationsPanel::SendFound);
  narrow_.setSingleShot(true);
  narrow_.setInterval(kNarrowMs);
  connect(&narrow_, &QTimer::timeout, this, [this] {
    stale_ = true;
    if (isVisible()) make();
  });
}

void AllocationsPanel::setEmptyText(const QString& text) {
  nothing_ = text;
  Count();
}

void AllocationsPanel::setTheme(const timeline::Theme& theme) { model_->setTheme(theme); }

void AllocationsPanel::setDigest(std::shared_ptr<const Digest> digest) {
  digest_ = std::move(digest);
  selection_ = {};
  range_ = {0, 0};
  stale_ = true;
  sent_ = false;
  if (digest_ == nullptr || isVisible()) make();
}

void AllocationsPanel::setRange(qint64 begin_ns, qint64 end_ns) {
  const auto range = begin_ns < end_ns ? std::pair{begin_ns, end_ns} : std::pair<qint64, qint64>{};
  if (range == range_) return;
  range_ = range;
  narrow_.start();
}

void AllocationsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  make();
}

void AllocationsPanel::make() {
  if (narrow_.isActive()) {
    narrow_.stop();
    stale_ = true;
  }
  if (!stale_) return;
  stale_ = false;
  selecting_ = true;
  const auto trace = digest_ ? digest_->trace : nullptr;
  if (model_->trace() != trace) {
    model_->setTrace(trace);
    if (!search_->text().trimmed().isEmpty()) send_later_.start();
  }
  // In a snapshot without history, allocations have no time of birth and no lifetime.
  for (const int column : kColumnsOfTime)
    view_->setColumnHidden(column, digest_ != nullptr && digest_->state());
  const bool range = trace != nullptr && range_.first < range_.second;
  span_ = range ? SpanOf(*trace, range_.first, range_.second) : EventSpan();
  leave_->setVisible(range);
  if (range)
    leave_->setText(
        tr("in the range of %1  ✕")
            .arg(QString::fromStdString(timeline::LengthOf(*trace, range_.second - range_.first))));
  selecting_ = false;
  Narrow();
  ShowSelected();
}

void AllocationsPanel::Narrow() {
  jobs_.cancel();
  AllocationModel::Search search = AllocationModel::ReadSearch(search_->text());
  const auto trace = model_->trace();
  if (search.text == model_->search() && span_ == model_->span()) {
    step_after_ = 0;
    return Count();
  }
  const auto order = model_->order();
  const auto look = [trace, order, filter = search.filter, span = span_] {
    return trace == nullptr ? AllocationModel::Narrowed()
                            : AllocationModel::NarrowedRows(*trace, *order, filter, span);
  };
  const auto show = [this](AllocationModel::Search of, const EventSpan& span,
                           AllocationModel::Narrowed found) {
    selecting_ = true;
    model_->setNarrowed(std::move(of), span, std::move(found));
    selecting_ = false;
    Narrowed();
  };
  if (trace == nullptr || trace->allocations.size() < kInline)
    return show(std::move(search), span_, look());
  jobs_.Ask(look, [this, show, order, search,
                   span = span_](absl::StatusOr<AllocationModel::Narrowed> found) {
    if (!found.ok()) return;
    // If the table was sorted or shows another trace since the search began, the search starts
    // over.
    if (order != model_->order()) return Narrow();
    show(search, span, *std::move(found));
  });
  Count();
}

void AllocationsPanel::Narrowed() {
  ShowSelected();
  if (digest_ != nullptr) send_later_.start();
  if (const int direction = std::exchange(step_after_, 0); direction != 0) step(direction);
}

void AllocationsPanel::SendFound() {
  send_later_.stop();
  const std::vector<trace::AllocationId> blocks = model_->found();
  if (blocks.empty() && !sent_) return;
  sent_ = !blocks.empty();
  Q_EMIT found(blocks);
}

bool AllocationsPanel::step(int direction) {
  make();
  if (jobs_.busy()) {
    step_after_ = direction;
    return true;
  }
  if (send_later_.isActive()) SendFound();
  return view_->step(direction);
}

void AllocationsPanel::setSelection(trace::AllocationId id) {
  selection_ = id;
  if (!stale_) ShowSelected();
}

void AllocationsPanel::ShowSelected() {
  selecting_ = true;
  const int row = selection_.valid() ? model_->rowOf(selection_) : -1;
  if (row < 0) {
    view_->clearSelection();
    view_->setCurrentIndex({});
  } else if (view_->currentIndex().row() != row || !view_->selectionModel()->hasSelection()) {
    view_->selectRow(row);
    view_->scrollTo(model_->index(row, 0));
  }
  selecting_ = false;
  Count();
}

void AllocationsPanel::Count() {
  const auto shown = static_cast<size_t>(model_->rowCount());
  const size_t total = model_->total();
  const bool searching = !model_->search().empty();
  view_->setEmptyText(digest_ == nullptr   ? nothing_
                      : searching          ? tr("No allocation matches the search.")
                      : model_->narrowed() ? tr("No allocation is live in this range.")
                                           : tr("This trace has no allocations."));
  previous_->setEnabled(searching && shown > 0);
  next_->setEnabled(searching && shown > 0);
  if (jobs_.busy()) return count_->setText(tr("Searching …"));
  if (!model_->searchError().empty())
    return count_->setText(QString::fromStdString(model_->searchError()));
  if (!searching) {
    count_->setText(digest_ ? tr("%1 allocations").arg(Number(total)) : QString());
    return;
  }
  const int row = view_->currentIndex().isValid() ? view_->currentIndex().row() : -1;
  count_->setText(row >= 0
                      ? tr("match %1 of %2 (%3 allocations)")
                            .arg(Number(static_cast<size_t>(row) + 1), Number(shown), Number(total))
                      : tr("%1 of %2 allocations match").arg(Number(shown), Number(total)));
}

bool AllocationsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  switch (key->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      step(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
      return true;
    case Qt::Key_Down:
      view_->setFocus();
      return true;
    case Qt::Key_Escape:
      search_->clear();
      return true;
    default:
      return QWidget::eventFilter(watched, event);
  }
}

QJsonObject AllocationsPanel::dumpState() const {
  QJsonObject out = view_->dumpState();
  out["count"] = count_->text();
  out["search"] = search_->text();
  return out;
}

}  // namespace vramscope::ui
