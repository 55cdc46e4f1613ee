#include "ui/explain/tables_pages.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/explain/explain_rows.h"
#include "ui/explain/explain_widgets.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"
#include "ui/timeline/model/moments.h"

namespace vramscope::ui {

CallSitesPage::CallSitesPage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("callSitesPage"));
  filter_ = FilterEdit(tr("Filter by function, file, module or category"), "siteFilter");
  connect(filter_, &QLineEdit::textChanged, this, [this] { Fill(); });
  head_line_->addWidget(filter_);
  by_box_ = MakeComboBox();
  by_box_->setObjectName(QStringLiteral("siteGrouping"));
  by_box_->setToolTip(tr("Group allocations by"));
  connect(by_box_, &QComboBox::activated, this, [this](int at) {
    by_ = static_cast<SiteBy>(by_box_->itemData(at).toInt());
    if (context_.digest != nullptr) Refresh(kRange);
  });
  head_line_->addWidget(by_box_);
  const auto order = [this](const QString& text, const QString& tip, int column) {
    QToolButton* button = QuietButton(text, tip);
    connect(button, &QToolButton::clicked, this, [this, column] {
      view_->sortByColumn(column, Qt::DescendingOrder);
      view_->scrollToTop();
    });
    head_line_->addWidget(button);
  };
  order(tr("Bytes × time"), tr("Sort by bytes × lifetime"), 2);
  order(tr("Most allocations"), tr("Sort by number of allocations"), 3);
  order(tr("Most at once"), tr("Sort by the most bytes that were live at the same time"), 5);
  table_ = new TableModel(this);
  view_ = MakeTable(table_, "callSitesTable");
  // Elided in the middle: a call site's name ends with its operator.
  view_->setTextElideMode(Qt::ElideMiddle);
  PointsAtTimeline(view_, table_, this);
  AddTable(view_);
}

void CallSitesPage::Refresh(int changes) {
  if (changes & kTheme) table_->setTheme(context_.theme);
  if (!(changes & (kDocument | kRange))) return;
  if (changes & kDocument) OfferGroupings();
  const auto [begin, end] = context_.range;
  explain::SiteUseOptions options;
  if (end > begin) {
    options.first = analysis::EventAtTime(*context_.trace(), begin);
    options.last = analysis::EventAtTime(*context_.trace(), end);
    of_ = tr("of the selected range (%1)")
              .arg(QString::fromStdString(timeline::LengthOf(*context_.trace(), end - begin)));
  } else {
    options.older = true;
    of_ = tr("of the whole trace. To count only the allocations of a range, select the range");
  }
  Ask([this, digest = context_.digest, options,
       by = by_](const JobToken& token) -> std::function<void()> {
    const explain::CallSites sites = GroupSites(*digest->trace, by);
    if (token.cancelled()) return {};
    std::vector<explain::SiteUse> uses = explain::UseOfSites(*digest->trace, sites, options);
    explain::Sort(uses, explain::SiteOrder::kByteSeconds);
    auto table = std::make_shared<Table>(CallSiteTable(*digest->trace, sites, uses, by));
    return [this, table] {
      all_ = *table;
      Fill();
    };
  });
}

void CallSitesPage::OfferGroupings() {
  by_box_->clear();
  for (const SiteBy by : SiteGroupings(*context_.trace()))
    by_box_->addItem(tr("by %1").arg(ToQString(Name(by))), static_cast<int>(by));
  const int at = by_box_->findData(static_cast<int>(by_));
  if (at < 0) by_ = SiteBy::kCallSite;
  by_box_->setCurrentIndex(std::max(at, 0));
  by_box_->setVisible(by_box_->count() > 1);
}

void CallSitesPage::Fill() {
  ShowFiltered(view_, table_, all_, filter_->text());
  const auto count = [](size_t n) { return QString::fromStdString(timeline::FormatCount(n)); };
  const size_t shown = table_->table().rows.size();
  Head(shown == all_.rows.size()
           ? by_ == SiteBy::kCallSite
                 ? (shown == 1 ? tr("%1 call site %2.") : tr("%1 call sites %2."))
                       .arg(count(shown), of_)
                 : (shown == 1 ? tr("%1 group (grouped by %2) %3.")
                               : tr("%1 groups (grouped by %2) %3."))
                       .arg(count(shown), ToQString(Name(by_)), of_)
           : tr("Showing %1 of %2 groups (grouped by %3) %4.")
                 .arg(count(shown), count(all_.rows.size()), ToQString(Name(by_)), of_));
}

void CallSitesPage::Clear() {
  all_ = {};
  table_->setTable({});
}

QJsonObject CallSitesPage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  out["table"] = view_->dumpState();
  return out;
}

LeaksPage::LeaksPage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("leaksPage"));
  show_progress_ = false;
  table_ = new TableModel(this);
  view_ = MakeTable(table_, "leaksTable");
  // Elided in the middle: a call site's name ends with its operator.
  view_->setTextElideMode(Qt::ElideMiddle);
  PointsAtTimeline(view_, table_, this);
  AddTable(view_);
}

void LeaksPage::Refresh(int changes) {
  if (changes & kTheme) table_->setTheme(context_.theme);
  if (!(changes & kDocument)) return;
  Ask([this, digest = context_.digest](const JobToken& token) -> std::function<void()> {
    const explain::CallSites sites = explain::FindCallSites(*digest->trace);
    if (token.cancelled()) return {};
    const explain::Leaks leaks = explain::FindLeaks(*digest->trace, sites);
    auto table = std::make_shared<Table>(LeakTable(leaks, sites));
    QString head = QString::fromStdString(leaks.headline);
    if (leaks.steps_until_full > 0) {
      const auto steps = std::lround(leaks.steps_until_full);
      head += (steps == 1 ? tr(" GPU memory will be full after about %1 more step.")
                          : tr(" GPU memory will be full after about %1 more steps."))
                  .arg(steps);
    }
    if (leaks.allocated.size() > 1)
      head +=
          tr(" At the end of the first step, %1 was allocated; at the end of the last step, %2.")
              .arg(QString::fromStdString(timeline::FormatBytes(leaks.allocated.front())),
                   QString::fromStdString(timeline::FormatBytes(leaks.allocated.back())));
    return [this, table, head] {
      table_->setTable(table->rows.empty() ? Table() : *table);
      Head(head);
    };
  });
}

void LeaksPage::Clear() { table_->setTable({}); }

QJsonObject LeaksPage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  out["table"] = view_->dumpState();
  return out;
}

}  // namespace vramscope::ui
