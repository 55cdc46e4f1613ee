#include "ui/panels/kernels_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QItemSelectionModel>
#include <QToolButton>
#include <QVBoxLayout>

#include "profiler/query/matcher.h"
#include "ui/panels/find_bar.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/kernel_rows.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {
namespace {

constexpr uint64_t kMarking = 1;  // key of the marking job; the sums' job has the default key

QString TitleOf(query::KernelsBy by) {
  switch (by) {
    case query::KernelsBy::kName:
      return QObject::tr("by name");
    case query::KernelsBy::kOp:
      return QObject::tr("by op");
    case query::KernelsBy::kModule:
      return QObject::tr("by module");
    case query::KernelsBy::kPhase:
      return QObject::tr("by phase");
    case query::KernelsBy::kStep:
      return QObject::tr("by step");
    case query::KernelsBy::kStream:
      return QObject::tr("by stream");
    case query::KernelsBy::kKind:
      return QObject::tr("by kind");
  }
  return {};
}

std::shared_ptr<const timeline::Marking> MarkSum(
    const std::shared_ptr<const trace::Trace>& trace,
    const std::shared_ptr<const query::KernelSums>& sums, uint32_t sum) {
  std::vector<query::Thing> things;
  things.reserve(sums->sums[sum].count);
  for (uint32_t row = 0; row < sums->sum_of.size(); ++row)
    if (sums->sum_of[row] == sum)
      things.push_back({*query::ThingKindOf(trace->activities.kind[row]), row});
  return std::make_shared<const timeline::Marking>(timeline::MarkThings(trace, things));
}

}  // namespace

KernelsPanel::KernelsPanel(QWidget* parent) : RangedPage(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  bar_ = new FindBar("kernelsFilter", tr("Filter by text, such as gemm, or by an expression, such "
                                         "as: module ~ attn and duration > 20 us"));
  by_ = MakeComboBox();
  by_->setObjectName(QStringLiteral("kernelsBy"));
  for (const query::KernelsBy by : query::kKernelsBy) by_->addItem(TitleOf(by));
  bar_->line()->insertWidget(0, by_);
  bar_->line()->addWidget(MakeRangeButton(QStringLiteral("leaveKernelsRange"),
                                          tr("Leave the range: show all kernels again (Esc)")));
  column->addWidget(bar_);

  model_ = new TableModel(this);
  view_ = new TableView;
  view_->setObjectName(QStringLiteral("kernelsTable"));
  view_->setRowModel(model_);
  view_->setSortingEnabled(true);
  view_->sortByColumn(1, Qt::DescendingOrder);
  bar_->setBelow(view_);
  auto* inset = new QHBoxLayout;  // aligns the first column with the tabs
  inset->setContentsMargins(4, 0, 4, 0);
  inset->addWidget(view_);
  column->addLayout(inset, 1);

  connect(by_, &QComboBox::currentIndexChanged, this, &KernelsPanel::Stale);
  connect(bar_, &FindBar::edited, this, [this](const query::Filter& filter) {
    filter_ = filter;
    Stale();
  });
  connect(bar_, &FindBar::stepped, this, &KernelsPanel::step);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (!selecting_ && now.isValid()) RowChosen(now.row());
          });
}

void KernelsPanel::setEmptyText(const QString& text) {
  nothing_ = text;
  Count();
}

void KernelsPanel::setTheme(const timeline::Theme& theme) { model_->setTheme(theme); }

void KernelsPanel::setBy(query::KernelsBy by) { by_->setCurrentIndex(static_cast<int>(by)); }

void KernelsPanel::setIndexes(std::shared_ptr<const timeline::TimelineData> indexes) {
  if (indexes == indexes_) return;
  indexes_ = std::move(indexes);
  activity_ = UINT32_MAX;
  jobs_.cancel();
  Stale();
}

void KernelsPanel::Ask() {
  ShowRange();
  if (indexes_ == nullptr || indexes_->activities() == nullptr) return Show(nullptr);
  const auto by = query::kKernelsBy[static_cast<size_t>(by_->currentIndex())];
  jobs_.Ask(
      [of = indexes_, by, filter = filter_, range = range_] {
        return std::make_shared<const query::KernelSums>(
            query::SumKernels(*of->activities(), by, range.first, range.second, filter));
      },
      [this](const absl::StatusOr<Sums>& sums) {
        if (sums.ok()) Show(*sums);
      });
}

void KernelsPanel::Show(const Sums& sums) {
  shown_ = sums;
  shown_of_ = indexes_;
  selecting_ = true;
  const auto by = query::kKernelsBy[static_cast<size_t>(by_->currentIndex())];
  if (sums == nullptr) {
    model_->setTable({});
  } else {
    model_->setTable(KernelTable(*sums, by, indexes_->trace()));
    view_->sortAsBefore();
  }
  selecting_ = false;
  ShowSelected();
  Count();
}

int KernelsPanel::SumOfRow(int row) const {
  return row < 0 || row >= model_->rowCount()
             ? -1
             : static_cast<int>(model_->table().rows[static_cast<size_t>(row)].group);
}

int KernelsPanel::RowOfSum(uint32_t sum) const {
  for (int row = 0; row < model_->rowCount(); ++row)
    if (SumOfRow(row) == static_cast<int>(sum)) return row;
  return -1;
}

void KernelsPanel::setActivity(uint32_t activity) {
  if (activity == activity_) return;
  activity_ = activity;
  ShowSelected();
}

void KernelsPanel::ShowSelected() {
  if (shown_ == nullptr || shown_of_ != indexes_) return;
  const uint32_t sum =
      activity_ < shown_->sum_of.size() ? shown_->sum_of[activity_] : query::kNoRow;
  selecting_ = true;
  if (const int row = sum == query::kNoRow ? -1 : RowOfSum(sum); row < 0) {
    view_->clearSelection();
    view_->setCurrentIndex({});
  } else if (view_->currentIndex().row() != row || !view_->selectionModel()->hasSelection()) {
    view_->selectRow(row);
    view_->scrollTo(model_->index(row, 0));
  }
  selecting_ = false;
  Count();
}

void KernelsPanel::RowChosen(int row) {
  const int sum = SumOfRow(row);
  if (sum < 0 || shown_ == nullptr || shown_of_ != indexes_) return;
  activity_ = shown_->sums[static_cast<size_t>(sum)].longest;
  jobs_.Ask([trace = indexes_->shared_trace(), sums = shown_,
             sum] { return MarkSum(trace, sums, static_cast<uint32_t>(sum)); },
            [this](const absl::StatusOr<std::shared_ptr<const timeline::Marking>>& marking) {
              if (marking.ok()) Q_EMIT marked(*marking);
            },
            {.key = kMarking});
  Q_EMIT activityClicked(activity_);
  Count();
}

bool KernelsPanel::step(int direction) {
  const int sum = SumOfRow(view_->currentIndex().isValid() ? view_->currentIndex().row() : -1);
  if (shown_ == nullptr || sum < 0) return view_->step(direction);
  if (shown_of_ != indexes_) return false;
  const auto n = static_cast<int64_t>(shown_->sum_of.size());
  int64_t at = activity_ < shown_->sum_of.size() ? int64_t{activity_} : 0;
  for (int64_t tried = 0; tried < n; ++tried) {
    at = (at + direction + n) % n;
    if (shown_->sum_of[static_cast<size_t>(at)] != static_cast<uint32_t>(sum)) continue;
    activity_ = static_cast<uint32_t>(at);
    Q_EMIT activityClicked(activity_);
    return true;
  }
  return false;
}

void KernelsPanel::Count() {
  const bool any = indexes_ != nullptr && indexes_->activities() != nullptr;
  view_->setEmptyText(indexes_ == nullptr ? nothing_
                      : !any ? tr("This trace has no kernels. Plans, recorded programs and "
                                  "torch.profiler traces contain kernels.")
                      : !filter_.empty() ? tr("No kernel matches the filter.")
                                         : tr("No kernel begins in this range."));
  if (shown_ == nullptr) return bar_->setCount({}, false);
  const QString modelled = shown_of_->trace().info.measured ? QString() : tr(", times modelled");
  bar_->setCount(
      (shown_->count == 1         ? tr("%1 activity in %2 row, total duration %3%4")
       : shown_->sums.size() == 1 ? tr("%1 activities in %2 row, total duration %3%4")
                                  : tr("%1 activities in %2 rows, total duration %3%4"))
          .arg(QString::fromStdString(timeline::FormatCount(shown_->count)),
               QString::fromStdString(timeline::FormatCount(shown_->sums.size())),
               QString::fromStdString(timeline::LengthOf(shown_of_->trace(), shown_->takes_ns)),
               modelled),
      shown_->count > 0);
}

QJsonObject KernelsPanel::dumpState() const {
  QJsonObject out = view_->dumpState();
  out["by"] = by_->currentText();
  out["filter"] = bar_->text();
  out["count"] = bar_->count();
  out["takes_ns"] = shown_ ? QJsonValue(static_cast<double>(shown_->takes_ns)) : QJsonValue::Null;
  out["current"] = SumOfRow(view_->currentIndex().isValid() ? view_->currentIndex().row() : -1);
  return out;
}

}  // namespace vramscope::ui
