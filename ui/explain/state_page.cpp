#include "ui/explain/state_page.h"

#include <QGridLayout>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <array>
#include <utility>

#include "ui/explain/explain_rows.h"
#include "ui/explain/explain_widgets.h"
#include "ui/explain/segment_map_widget.h"
#include "ui/explain/state_rows.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr size_t kBlocks = 1000;
constexpr int kSideWidth = 360;
enum { kSites, kCategories, kPools, kLargest, kStatistics };

}  // namespace

struct StatePage::Found {
  std::shared_ptr<const Digest> digest;
  explain::MemoryState state;
  std::vector<trace::Category> category;
  std::array<Table, kTables> tables;
};

StatePage::StatePage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("statePage"));
  show_progress_ = false;  // the computation takes milliseconds
  auto* split = new QSplitter(Qt::Horizontal);
  split->setChildrenCollapsible(false);
  split->setHandleWidth(9);
  map_ = new SegmentMapWidget;
  map_->setObjectName(QStringLiteral("stateMap"));
  connect(map_, &SegmentMapWidget::allocationClicked, this, &ExplainPage::allocationClicked);
  split->addWidget(map_);
  side_ = new QWidget;
  side_->setMinimumWidth(kSideWidth);
  auto* column = new QVBoxLayout(side_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  auto* box = new QWidget;
  facts_ = new QGridLayout(box);
  facts_->setContentsMargins(4, 0, 4, 0);
  facts_->setHorizontalSpacing(12);
  facts_->setVerticalSpacing(3);
  facts_->setColumnStretch(1, 1);
  facts_->setColumnStretch(3, 1);
  column->addWidget(box);
  tabs_ = new QTabWidget;
  tabs_->setDocumentMode(true);
  tabs_->tabBar()->setDrawBase(false);
  tabs_->setObjectName(QStringLiteral("stateTabs"));
  const std::array<std::pair<const char*, QString>, kTables> pages = {
      {{"stateSites", tr("Call sites")},
       {"stateCategories", tr("Categories")},
       {"statePools", tr("Pools")},
       {"stateBlocks", tr("Largest blocks")},
       {"stateStatistics", tr("memory_stats()")}}};
  for (int i = 0; i < kTables; ++i) {
    tables_[i] = new TableModel(this);
    views_[i] = MakeTable(tables_[i], pages[static_cast<size_t>(i)].first);
    views_[i]->setTextElideMode(Qt::ElideMiddle);
    PointsAtTimeline(views_[i], tables_[i], this);
    tabs_->addTab(views_[i], pages[static_cast<size_t>(i)].second);
  }
  KeepFiguresApart(box, tabs_);
  column->addWidget(tabs_, 1);
  split->addWidget(side_);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 1);
  column_->addWidget(split, 1);
}

void StatePage::Refresh(int changes) {
  if (changes & kTheme) {
    map_->setTheme(context_.theme);
    for (TableModel* table : tables_) table->setTheme(context_.theme);
  }
  if (changes & kSelection) map_->setSelection(context_.selection);
  if (!(changes & (kDocument | kTimeChanged | kRange))) return;
  Ask([this, digest = context_.digest,
       event = context_.shownEvent()](const JobToken& token) -> std::function<void()> {
    auto found = std::make_shared<Found>();
    const trace::Trace& trace = *digest->trace;
    found->digest = digest;
    found->tables[kStatistics] = StatisticsTable(trace.info);
    if (trace.events.size() > 0) {
      found->state = explain::StateAt(trace, event);
      if (token.cancelled()) return {};
      const analysis::LiveSet live = analysis::LiveAt(trace, event);
      found->category = CategoriesAt(trace, event);
      found->tables[kSites] = StateSitesTable(found->state);
      found->tables[kCategories] = StateCategoriesTable(live);
      found->tables[kPools] = StatePoolsTable(found->state);
      found->tables[kLargest] = StateBlocksTable(trace, found->state, kBlocks);
    }
    return [this, found] { Show(*found); };
  });
}

void StatePage::Show(const Found& found) {
  const trace::Trace& trace = *found.digest->trace;
  const bool figures = trace.events.size() == 0;
  map_->setVisible(!figures);
  map_->setSegments(found.digest->trace, found.state.segments, found.category,
                    found.state.fragmentation.owners);
  map_->setSelection(context_.selection);
  for (int i = 0; i < kTables; ++i) {
    tables_[i]->setTable(found.tables[static_cast<size_t>(i)]);
    tabs_->setTabVisible(
        i, figures ? i == kStatistics : i != kStatistics || !trace.info.statistics.empty());
  }
  ClearLayout(facts_);
  if (figures) {
    Head(tr("The file contains only %1 allocator statistics. It has no blocks and no segments.")
             .arg(trace.info.statistics.size()));
    return;
  }
  int at = 0;
  for (const Fact& fact : StateFacts(found.state))
    AddFigure(facts_, at++, QString::fromStdString(fact.label), QString::fromStdString(fact.value));
  const QString headline = QString::fromStdString(found.state.headline);
  Head(found.digest->state() ? headline
                             : tr("%1: %2").arg(QString::fromStdString(TimeAndContextText(
                                                    trace, found.state.fragmentation.context)),
                                                headline));
}

void StatePage::Clear() {
  map_->setSegments(nullptr, {}, {});
  for (TableModel* table : tables_) table->setTable({});
  ClearLayout(facts_);
}

QJsonObject StatePage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  const std::array<const char*, kTables> names = {"sites", "categories", "pools", "blocks",
                                                  "statistics"};
  for (int i = 0; i < kTables; ++i)
    out[QLatin1String(names[static_cast<size_t>(i)])] = views_[i]->dumpState();
  out["segments"] = static_cast<int>(map_->map().segments().size());
  return out;
}

}  // namespace vramscope::ui
