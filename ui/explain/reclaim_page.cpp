#include "ui/explain/reclaim_page.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/explain/explain_rows.h"
#include "ui/explain/explain_widgets.h"
#include "ui/panels/allocation_rows.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {

ReclaimPage::ReclaimPage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("reclaimPage"));
  at_cursor_ = QuietButton(
      tr("At the cursor"),
      tr("Compute how to reclaim memory at the cursor, or at the peak if there is no cursor"));
  at_cursor_->setObjectName(QStringLiteral("reclaimAtCursor"));
  connect(at_cursor_, &QToolButton::clicked, this, [this] { Compute(context_.shownEvent()); });
  QToolButton* most = QuietButton(
      tr("Most unused"),
      tr("Compute how to reclaim memory at the time at which unused reserved memory is largest"));
  connect(most, &QToolButton::clicked, this, [this] { Compute(MostUnusedOfRange()); });
  head_line_->addWidget(most);
  head_line_->addWidget(at_cursor_);
  table_ = new TableModel(this);
  view_ = MakeTable(table_, "reclaimTable");
  view_->setToolTip({});
  connect(view_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    const std::string& text = table_->table().rows[static_cast<size_t>(index.row())].cells[0].text;
    // The cell has the settings, then " · " and assumptions. Only the settings are needed.
    const std::string name = text.substr(0, text.find(" · "));
    if (name.find(':') != std::string::npos) Q_EMIT confRequested(QString::fromStdString(name));
  });
  AddTable(view_);
}

void ReclaimPage::Refresh(int changes) {
  if (changes & kTheme) table_->setTheme(context_.theme);
  if (changes & (kDocument | kRange)) Compute(MostUnusedOfRange());
}

std::optional<trace::EventIndex> ReclaimPage::MostUnusedOfRange() const {
  if (!context_.has_range() || context_.digest == nullptr) return std::nullopt;
  const analysis::MemoryCurves& c = *context_.digest->curves;
  const EventSpan span = SpanOf(*context_.trace(), context_.range.first, context_.range.second);
  std::optional<trace::EventIndex> at;
  uint64_t most = 0;
  for (auto i = static_cast<size_t>(std::lower_bound(c.event.begin(), c.event.end(), span.first) -
                                    c.event.begin());
       i < c.size() && c.event[i] <= span.last; ++i) {
    const uint64_t unused = c.reserved[i] - std::min(c.reserved[i], c.allocated[i]);
    if (at && unused <= most) continue;
    at = c.event[i];
    most = unused;
  }
  return at;
}

void ReclaimPage::Compute(std::optional<trace::EventIndex> at) {
  if (context_.digest == nullptr) return;
  table_->setTable({});
  Head(tr("Replaying the trace under other settings, and with empty_cache() …"));
  Ask([this, digest = context_.digest, at](const JobToken& token) -> std::function<void()> {
    explain::ReclaimOptions options;
    options.at = at;
    options.progress = token.progress();
    options.cancel = token.cancel();
    auto found = std::make_shared<absl::StatusOr<explain::Reclaim>>(
        explain::ComputeReclaim(*digest->trace, options));
    return [this, digest, found] { Show(digest, *found); };
  });
}

void ReclaimPage::Show(const std::shared_ptr<const Digest>& digest,
                       const absl::StatusOr<explain::Reclaim>& found) {
  error_.clear();
  if (!found.ok()) {
    error_ = ToQString(std::string(found.status().message()));
    Head(tr("The results could not be computed: %1").arg(error_));
    return;
  }
  table_->setTable(RemedyTable(*found));
  Head(tr("%1: %2 Double-click a row with settings to try them on the What if page.")
           .arg(QString::fromStdString(TimeAndContextText(*digest->trace, found->context)),
                QString::fromStdString(found->headline)));
}

void ReclaimPage::Cancelled() { Head(tr("Cancelled. Click a button to start again.")); }

void ReclaimPage::Clear() { table_->setTable({}); }

QJsonObject ReclaimPage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  out["table"] = view_->dumpState();
  out["error"] = error_;
  return out;
}

}  // namespace vramscope::ui
