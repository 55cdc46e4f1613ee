#include "ui/explain/fragmentation_page.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/explain/explain_rows.h"
#include "ui/explain/explain_widgets.h"
#include "ui/explain/segment_map_widget.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/table_panel.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr int kSideWidth = 318;

}  // namespace

struct FragmentationPage::Found {
  std::shared_ptr<const Digest> digest;
  explain::Fragmentation fragmentation;
  std::vector<explain::SegmentView> segments;
  std::vector<trace::Category> category;
};

FragmentationPage::FragmentationPage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("fragmentationPage"));
  // The computation takes milliseconds; a progress bar would flicker while the cursor moves.
  show_progress_ = false;
  QToolButton* unused = QuietButton(
      tr("Most unused"), tr("Go to the time at which unused reserved memory is largest"));
  unused->setObjectName(QStringLiteral("gotoUnused"));
  connect(unused, &QToolButton::clicked, this, [this] {
    if (context_.trace() == nullptr) return;
    const trace::EventIndex event = explain::MostUnused(*context_.trace());
    Q_EMIT cursorRequested(context_.trace()->events.time_ns[event]);
  });
  QToolButton* peak = QuietButton(tr("Peak"), tr("Go to the peak of allocated memory"));
  connect(peak, &QToolButton::clicked, this, [this] { Q_EMIT cursorRequested(-1); });
  moments_ = {unused, peak};
  for (QToolButton* to : moments_) head_line_->addWidget(to);

  auto* split = new QSplitter(Qt::Horizontal);
  split->setChildrenCollapsible(false);
  split->setHandleWidth(9);
  map_ = new SegmentMapWidget;
  map_->setObjectName(QStringLiteral("segmentMap"));
  connect(map_, &SegmentMapWidget::allocationClicked, this, &ExplainPage::allocationClicked);
  split->addWidget(map_);
  auto* side = new QWidget;
  side->setMinimumWidth(kSideWidth);  // wide enough for two facts a line, with their units
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  facts_box_ = new QWidget;
  facts_ = new QGridLayout(facts_box_);
  facts_->setContentsMargins(4, 0, 4, 0);
  facts_->setHorizontalSpacing(12);
  facts_->setVerticalSpacing(3);
  facts_->setColumnStretch(1, 1);
  facts_->setColumnStretch(3, 1);
  column->addWidget(facts_box_);
  auto* tabs = new QTabWidget;
  tabs->setDocumentMode(true);
  tabs->tabBar()->setDrawBase(false);
  tabs->setObjectName(QStringLiteral("pinnedTabs"));
  pinned_by_ = new TableModel(this);
  pinned_by_view_ = MakeTable(pinned_by_, "pinnedByTable");
  tabs->addTab(pinned_by_view_, tr("Holes by call site"));
  pinned_ = new TableModel(this);
  pinned_view_ = MakeTable(pinned_, "pinnedTable");
  PointsAtTimeline(pinned_view_, pinned_, this);
  tabs->addTab(pinned_view_, tr("Segments with holes"));
  KeepFiguresApart(facts_box_, tabs);
  column->addWidget(tabs, 1);
  split->addWidget(side);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  column_->addWidget(split, 1);
}

void FragmentationPage::Refresh(int changes) {
  if (changes & kTheme) {
    map_->setTheme(context_.theme);
    pinned_by_->setTheme(context_.theme);
    pinned_->setTheme(context_.theme);
  }
  if (changes & kSelection) map_->setSelection(context_.selection);
  if (!(changes & (kDocument | kTimeChanged | kRange))) return;
  Ask([this, digest = context_.digest,
       event = context_.shownEvent()](const JobToken& token) -> std::function<void()> {
    auto found = std::make_shared<Found>();
    const trace::Trace& trace = *digest->trace;
    found->digest = digest;
    found->segments = explain::SegmentsAt(trace, event);
    if (token.cancelled()) return {};
    found->category = CategoriesAt(trace, event);
    found->fragmentation = explain::FragmentationAt(trace, event);
    return [this, found] { Show(*found); };
  });
}

void FragmentationPage::Show(const Found& found) {
  shown_ = found.fragmentation;
  shown_of_ = found.digest;
  // A snapshot describes a single time, so the buttons that go to another time are hidden.
  for (QToolButton* to : moments_) to->setVisible(!found.digest->state());
  const trace::Trace& trace = *found.digest->trace;
  map_->setSegments(found.digest->trace, found.segments, found.category, shown_.owners);
  map_->setSelection(context_.selection);
  pinned_by_->setTable(PinnedByTable(shown_));
  pinned_->setTable(PinnedTable(shown_));
  const QString headline = QString::fromStdString(shown_.headline);
  const QString at = QString::fromStdString(TimeAndContextText(trace, shown_.context));
  switch (context_.time_source()) {
    case ExplainContext::TimeSource::kCursor:
      Head(tr("At the cursor, %1: %2").arg(at, headline));
      break;
    case ExplainContext::TimeSource::kRange:
      Head(tr("At the peak of the range, %1: %2").arg(at, headline));
      break;
    case ExplainContext::TimeSource::kPeak:
      Head(tr("At the peak, %1: %2").arg(at, headline));
      break;
    case ExplainContext::TimeSource::kState:
      Head(headline);
      break;
  }
  ShowFacts();
}

void FragmentationPage::ShowFacts() {
  ClearLayout(facts_);
  int at = 0;
  for (const FragmentFact& fact : FragmentFacts(shown_)) {
    AddFigure(facts_, at++, QString::fromStdString(fact.label),
              fact.bytes == 0 ? QStringLiteral("0")
                              : QString::fromStdString(timeline::FormatBytes(fact.bytes)),
              QStringLiteral("%1\n%2").arg(
                  QString::fromStdString(fact.meaning),
                  QString::fromStdString(timeline::FormatBytesExact(fact.bytes))));
  }
}

void FragmentationPage::Clear() {
  shown_ = {};
  shown_of_.reset();
  map_->setSegments(nullptr, {}, {});
  pinned_by_->setTable({});
  pinned_->setTable({});
  ClearLayout(facts_);
}

QJsonObject FragmentationPage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  QJsonObject facts;
  for (const FragmentFact& fact : FragmentFacts(shown_))
    facts[QString::fromStdString(fact.label)] = static_cast<double>(fact.bytes);
  out["facts"] = facts;
  out["segments"] = static_cast<int>(map_->map().segments().size());
  out["pieces"] = static_cast<int>(map_->map().pieces().size());
  out["event"] = static_cast<double>(shown_.context.event);
  out["pinned_by"] = pinned_by_view_->dumpState();
  out["pinned"] = pinned_view_->dumpState();
  return out;
}

}  // namespace vramscope::ui
