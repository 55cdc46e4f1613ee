#include "ui/panels/allocations_panel.h"

#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "ui/jobs/release_later.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

// The table shows the matches after each keystroke. The timeline shows them after this pause in
// typing.
constexpr int kSendMs = 120;
constexpr int kNarrowMs = 80;  // delay while a range is dragged

QString Number(size_t n) { return QString::fromStdString(timeline::FormatCount(n)); }

struct Looked {
  AllocationModel::Contents contents;
  std::shared_ptr<const timeline::Marking> marking;  // nullptr: no search
};

Looked Look(const std::shared_ptr<const trace::Trace>& trace,
            const AllocationModel::Request& request) {
  Looked looked{.contents = AllocationModel::ContentsOf(*trace, request), .marking = nullptr};
  if (request.filter.empty()) return looked;
  std::vector<trace::AllocationId> blocks;
  blocks.reserve(looked.contents.rows.size());
  for (const uint32_t row : looked.contents.rows) blocks.push_back({row});
  looked.marking = std::make_shared<const timeline::Marking>(timeline::MarkBlocks(trace, blocks));
  return looked;
}

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
      tr("Find a module, op, frame or category, or filter by size > 10 MiB"));
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
  connect(model_, &AllocationModel::sortingNeeded, this, &AllocationsPanel::Narrow);
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
  ReleaseLater(std::exchange(marking_, nullptr));
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
  if (model_->trace() != trace) model_->setTrace(trace);
  // In a snapshot without history, it is not known when allocations were made and freed.
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
  if (model_->sorted() && search.text == model_->search() && span_ == model_->span()) {
    step_after_ = 0;
    return Count();
  }
  const auto show = [this](AllocationModel::Search of, const EventSpan& span, Looked looked) {
    selecting_ = true;
    model_->setContents(std::move(of), span, std::move(looked.contents));
    selecting_ = false;
    Narrowed(std::move(looked.marking));
  };
  if (trace == nullptr)
    return show(std::move(search), span_,
                {.contents = {.order = std::make_shared<const std::vector<uint32_t>>()},
                 .marking = nullptr});
  const auto look = [trace, request = model_->request(search.filter, span_)] {
    return Look(trace, request);
  };
  if (trace->allocations.size() < AllocationModel::kInline)
    return show(std::move(search), span_, look());
  jobs_.Ask(look, [this, show, trace, search, span = span_](absl::StatusOr<Looked> looked) {
    if (looked.ok() && trace == model_->trace()) show(search, span, *std::move(looked));
  });
  Count();
}

void AllocationsPanel::Narrowed(std::shared_ptr<const timeline::Marking> marking) {
  ReleaseLater(std::exchange(marking_, std::move(marking)));
  ShowSelected();
  if (digest_ != nullptr) send_later_.start();
  if (const int direction = std::exchange(step_after_, 0); direction != 0) step(direction);
}

void AllocationsPanel::SendFound() {
  send_later_.stop();
  if (marking_ == nullptr && !sent_) return;
  sent_ = marking_ != nullptr;
  Q_EMIT marked(marking_);
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
  const QString working = !jobs_.busy()      ? QString()
                          : model_->sorted() ? tr("Searching …")
                                             : tr("Sorting …");
  view_->setEmptyText(digest_ == nullptr   ? nothing_
                      : jobs_.busy()       ? working
                      : searching          ? tr("No allocation matches the search.")
                      : model_->narrowed() ? tr("No allocation is live in this range.")
                                           : tr("This trace has no allocations."));
  previous_->setEnabled(searching && shown > 0);
  next_->setEnabled(searching && shown > 0);
  if (jobs_.busy()) return count_->setText(working);
  if (!model_->searchError().empty())
    return count_->setText(QString::fromStdString(model_->searchError()));
  if (!searching) {
    const QString all = total == 1 ? tr("%1 allocation") : tr("%1 allocations");
    count_->setText(digest_ ? all.arg(Number(total)) : QString());
    return;
  }
  const int row = view_->currentIndex().isValid() ? view_->currentIndex().row() : -1;
  count_->setText(row >= 0
                      ? tr("match %1 of %2 (%3 allocations in all)")
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
      if (search_->text().isEmpty()) return QWidget::eventFilter(watched, event);
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
