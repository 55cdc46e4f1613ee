#include "ui/explain/live_set_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLineEdit>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ui/explain/explain_rows.h"
#include "ui/explain/explain_widgets.h"
#include "ui/explain/live_chart.h"
#include "ui/explain/live_model.h"
#include "ui/explain/live_tree.h"
#include "ui/panels/find_bar.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

using analysis::GroupBy;

constexpr int kBlockByBlock = -1, kByExpression = -2;  // items in addition to the values of GroupBy

QString CountText(size_t n) { return QString::fromStdString(timeline::FormatCount(n)); }
QString BytesText(uint64_t bytes) {
  return bytes == 0 ? QStringLiteral("0") : QString::fromStdString(timeline::FormatBytes(bytes));
}

}  // namespace

LiveSetPage::LiveSetPage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("liveSetPage"));
  show_progress_ = false;  // the computation takes only milliseconds
  bar_ = new FindBar("liveFilter", tr("Filter by text, such as relu, or by an expression, such as: "
                                      "size > 10 MiB and phase = backward"));
  bar_->line()->setContentsMargins(0, 0, 0, 0);
  by_ = MakeComboBox();
  by_->setObjectName(QStringLiteral("liveBy"));
  by_->setMinimumContentsLength(13);
  by_->setToolTip(tr("Group the live blocks"));
  const std::array<std::pair<GroupBy, QString>, 9> ways = {
      {{GroupBy::kCategory, tr("by category")},
       {GroupBy::kModule, tr("by module")},
       {GroupBy::kOp, tr("by op")},
       {GroupBy::kStack, tr("by call site")},
       {GroupBy::kFile, tr("by file")},
       {GroupBy::kPhase, tr("by phase")},
       {GroupBy::kSize, tr("by size class")},
       {GroupBy::kAge, tr("by age")},
       {GroupBy::kAnnotation, tr("by annotation")}}};
  for (const auto& [by, text] : ways) by_->addItem(text, static_cast<int>(by));
  by_->addItem(tr("block by block"), kBlockByBlock);
  by_->addItem(tr("by expression"), kByExpression);
  bar_->line()->insertWidget(0, by_);
  expression_ = new QLineEdit;
  expression_->setObjectName(QStringLiteral("liveExpression"));
  expression_->setPlaceholderText(QStringLiteral("module:*, category"));
  expression_->setToolTip(
      tr("Up to %1 of these keys, separated by commas: category, module, op, stack, phase, file, "
         "size, age, annotation.\n“module:2” groups by the first two components of a module's "
         "path.\n“module:*” groups equal layers together.\n“file:2” groups by the last two "
         "components of a path.\n“stack:3” groups by the call site and two callers.")
          .arg(analysis::kMostGroupParts));
  expression_->setMinimumWidth(170);
  expression_->hide();
  bar_->line()->insertWidget(1, expression_);
  as_ = MakeComboBox();
  as_->setObjectName(QStringLiteral("liveAs"));
  as_->setToolTip(
      tr("Show the blocks as a table, as a flame graph by call stack, or as a treemap"));
  for (const QString& text : {tr("Table"), tr("Flame graph"), tr("Treemap")}) as_->addItem(text);
  as_->setMinimumContentsLength(10);
  bar_->line()->insertWidget(2, as_);
  column_->addWidget(bar_);

  model_ = new LiveModel(this);
  view_ = new TableView;
  view_->setObjectName(QStringLiteral("liveTable"));
  view_->setRowModel(model_);
  view_->setSortingEnabled(true);
  view_->setTextElideMode(Qt::ElideMiddle);
  view_->sortByColumn(static_cast<int>(LiveColumn::kBytes), Qt::DescendingOrder);
  view_->installEventFilter(this);
  view_->setToolTip(tr("Expand a group with Space, Enter or a double-click"));
  bar_->setBelow(view_);
  chart_ = new LiveChart;
  stack_ = new QStackedWidget;
  stack_->addWidget(view_);
  auto* inset = new QWidget;  // aligns the chart with the head line, like the table's text
  auto* line = new QHBoxLayout(inset);
  line->setContentsMargins(11, 0, 11, 0);
  line->addWidget(chart_);
  stack_->addWidget(inset);
  AddTable(stack_);

  connect(by_, &QComboBox::currentIndexChanged, this, [this] {
    const bool own = by_->currentData().toInt() == kByExpression;
    expression_->setVisible(own);
    if (own) expression_->setFocus();
    AskAgain();
  });
  connect(expression_, &QLineEdit::textChanged, this, &LiveSetPage::AskAgain);
  connect(as_, &QComboBox::currentIndexChanged, this, &LiveSetPage::AskAgain);
  connect(chart_, &LiveChart::nodeClicked, this,
          [this](const std::vector<trace::AllocationId>& blocks) {
            if (blocks.empty() || shown_of_ != context_.digest) return;
            const auto bytes = [&](trace::AllocationId id) {
              return context_.trace()->allocations.bytes_rounded[id.value];
            };
            if (blocks.size() == 1) {
              Q_EMIT allocationClicked(blocks.front());
            } else {
              Q_EMIT blocksClicked(blocks, *std::ranges::max_element(blocks, {}, bytes));
            }
          });
  connect(bar_, &FindBar::edited, this, [this](const query::Filter& filter) {
    question_.filter = filter;
    AskAgain();
  });
  connect(bar_, &FindBar::stepped, this, &LiveSetPage::Step);
  connect(model_, &LiveModel::sortAsked, this, [this](LiveColumn column, bool descending) {
    question_.column = column;
    question_.descending = descending;
    AskAgain();
  });
  const auto chosen = [this](const QModelIndex& now) {
    if (!selecting_ && now.isValid()) RowChosen(now.row());
  };
  // If the timeline has cleared the selection, a click on the current row selects its blocks again.
  connect(view_, &QAbstractItemView::clicked, this, chosen);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, chosen);
  connect(view_, &QAbstractItemView::doubleClicked, this,
          [this](const QModelIndex& at) { model_->unfold(at.row(), !model_->unfolded(at.row())); });
}

absl::StatusOr<std::optional<analysis::GroupExpression>> LiveSetPage::By() const {
  const int by = by_->currentData().toInt();
  if (by == kBlockByBlock) return std::nullopt;
  if (by != kByExpression) return static_cast<GroupBy>(by);
  const QString text = expression_->text().trimmed();
  return analysis::ParseGroupExpression(
      (text.isEmpty() ? expression_->placeholderText() : text).toStdString());
}

void LiveSetPage::Refresh(int changes) {
  if (changes & kTheme) {
    model_->setTheme(context_.theme);
    chart_->setTheme(context_.theme);
  }
  if (changes & (kDocument | kTimeChanged | kRange)) return AskAgain();
  if (changes & kSelection) ShowSelected();
}

void LiveSetPage::AskAgain() {
  if (context_.digest == nullptr || context_.trace()->events.size() == 0) return;
  if (!isVisible()) return changed(kTimeChanged);  // compute when the page is shown
  const absl::StatusOr<std::optional<analysis::GroupExpression>> by = By();
  SetTone(expression_, by.ok() ? "" : "bad");
  if (!by.ok()) {
    // The table continues to show the groups of the last valid expression.
    bar_->setCount(QString::fromStdString(std::string(by.status().message())), false);
    return;
  }
  question_.by = *by;
  // If only the sort order or filter has changed, use the same live set again.
  std::shared_ptr<const analysis::LiveSet> known;
  const trace::EventIndex event = context_.shownEvent();
  if (model_->rows() != nullptr && shown_of_ == context_.digest &&
      model_->rows()->set().context.event == event)
    known = model_->rows()->shared_set();
  Ask([this, digest = context_.digest, event, known, question = question_,
       as = static_cast<As>(as_->currentIndex())](const JobToken& token) -> std::function<void()> {
    auto set =
        known != nullptr
            ? known
            : std::make_shared<const analysis::LiveSet>(analysis::LiveAt(*digest->trace, event));
    if (token.cancelled()) return {};
    auto rows = std::make_shared<const LiveRows>(digest->trace, std::move(set), question);
    Answer answer{digest, rows, question.by, as, nullptr};
    if (as != As::kTable)
      answer.tree =
          std::make_shared<const LiveTree>(as == As::kFlame ? StackTree(*rows) : GroupTree(*rows));
    return [this, answer = std::move(answer)] { Show(answer); };
  });
}

void LiveSetPage::Show(const Answer& answer) {
  const auto& [digest, rows, by, as, tree] = answer;
  // Select the row of the group that was selected before.
  const int current = view_->currentIndex().isValid() ? view_->currentIndex().row() : -1;
  const bool was_group = model_->isGroup(current);
  const std::string group =
      was_group ? model_->rows()->groups()[model_->groupAt(current)].name : std::string();
  const bool same_document = shown_of_ == digest;
  selecting_ = true;
  shown_of_ = digest;
  model_->setRows(rows, by);
  for (const LiveColumn column : {LiveColumn::kPhase, LiveColumn::kAge})
    view_->setColumnHidden(static_cast<int>(column), digest->state());
  if (was_group && same_document)
    for (int row = 0; row < model_->rowCount(); ++row)
      if (model_->isGroup(row) && rows->groups()[model_->groupAt(row)].name == group)
        view_->selectRow(row);
  selecting_ = false;
  ShowSelected();
  const analysis::LiveSet& set = rows->set();
  view_->setEmptyText(set.allocations.empty() ? tr("Nothing is allocated at this moment.")
                                              : tr("No live block matches the filter."));
  chart_->setEmptyText(set.allocations.empty() ? tr("Nothing is allocated at this moment.")
                                               : tr("No live block matches the filter."));
  chart_->setTree(tree, digest->trace,
                  as == As::kTreemap ? LiveChart::Kind::kTreemap : LiveChart::Kind::kFlame);
  stack_->setCurrentIndex(as == As::kTable ? 0 : 1);
  const bool all = rows->blocks().size() == set.allocations.size();
  bar_->setCount(all ? (rows->blocks().size() == 1 ? tr("%1 block, %2 requested")
                                                   : tr("%1 blocks, %2 requested"))
                           .arg(CountText(rows->blocks().size()), BytesText(rows->requested()))
                     : tr("%1 of %2 blocks (%3 of %4)")
                           .arg(CountText(rows->blocks().size()), CountText(set.allocations.size()),
                                BytesText(rows->bytes()), BytesText(set.allocated)),
                 !rows->blocks().empty());
  const QString total = (set.allocations.size() == 1 ? tr("%1 allocated in %2 block")
                                                     : tr("%1 allocated in %2 blocks"))
                            .arg(BytesText(set.allocated), CountText(set.allocations.size()));
  Head(digest->state()
           ? total
           : tr("%1: %2").arg(
                 QString::fromStdString(TimeAndContextText(*digest->trace, set.context)), total));
}

void LiveSetPage::ShowSelected() {
  if (model_->rows() == nullptr || shown_of_ != context_.digest) return;
  const int row = context_.selection.valid() ? model_->rowOf(context_.selection) : -1;
  if (row < 0) return;
  const int now = view_->currentIndex().isValid() ? view_->currentIndex().row() : -1;
  // Selecting a group selects its largest block in the timeline. That selection must not move the
  // table's selection from the group to the block.
  if (now == row || (model_->isGroup(now) && model_->allocationAt(now) == context_.selection))
    return;
  selecting_ = true;
  view_->selectRow(row);
  view_->scrollTo(model_->index(row, 0));
  selecting_ = false;
}

void LiveSetPage::RowChosen(int row) {
  const trace::AllocationId id = model_->allocationAt(row);
  if (!id.valid() || shown_of_ != context_.digest) return;
  if (!model_->isGroup(row)) {
    Q_EMIT allocationClicked(id);
    return;
  }
  const LiveRows& rows = *model_->rows();
  const LiveRows::Group& group = rows.groups()[model_->groupAt(row)];
  std::vector<trace::AllocationId> blocks;
  blocks.reserve(group.count);
  for (uint32_t i = 0; i < group.count; ++i) blocks.push_back(rows.blocks()[group.first + i].id);
  Q_EMIT blocksClicked(blocks, id);
}

void LiveSetPage::Step(int direction) { view_->step(direction); }

bool LiveSetPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched != view_ || event->type() != QEvent::KeyPress)
    return ExplainPage::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  const int row = view_->currentIndex().isValid() ? view_->currentIndex().row() : -1;
  if (row < 0 || (key != Qt::Key_Space && key != Qt::Key_Return && key != Qt::Key_Enter))
    return false;
  if (model_->isGroup(row))
    model_->unfold(row, !model_->unfolded(row));
  else
    RowChosen(row);
  return true;
}

void LiveSetPage::Clear() {
  shown_of_ = nullptr;
  model_->setRows(nullptr, question_.by);
  chart_->setTree(nullptr, nullptr, LiveChart::Kind::kFlame);
  bar_->setCount({}, false);
}

QJsonObject LiveSetPage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  out["table"] = view_->dumpState();
  out["as"] = as_->currentText();
  out["chart"] = chart_->dumpState();
  out["by"] = by_->currentText();
  if (expression_->isVisibleTo(this)) out["expression"] = expression_->text();
  out["filter"] = bar_->text();
  out["count"] = bar_->count();
  if (const LiveRows* rows = model_->rows().get()) {
    out["event"] = static_cast<double>(rows->set().context.event);
    out["bytes"] = static_cast<double>(rows->bytes());
    out["allocated"] = static_cast<double>(rows->set().allocated);
    out["blocks"] = static_cast<int>(rows->blocks().size());
    out["groups"] = static_cast<int>(rows->groups().size());
  }
  return out;
}

}  // namespace vramscope::ui
