#include "ui/explain/out_of_memory_page.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "profiler/base/i18n.h"
#include "ui/explain/explain_rows.h"
#include "ui/explain/explain_widgets.h"
#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"
#include "ui/timeline/model/format.h"

namespace vramscope::ui {
namespace {

constexpr int kFactsWidth = 330;

}  // namespace

OutOfMemoryPageView::OutOfMemoryPageView(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("outOfMemoryPage"));
  which_ = MakeComboBox();
  which_->setObjectName(QStringLiteral("whichOutOfMemory"));
  which_->setMinimumContentsLength(22);
  connect(which_, &QComboBox::activated, this, &OutOfMemoryPageView::ShowEvent);
  head_line_->addWidget(which_);
  go_ = QuietButton(tr("Go to the error"), tr("Move the cursor to the out-of-memory error"));
  connect(go_, &QToolButton::clicked, this, [this] {
    const int i = which_->currentIndex();
    if (i < 0 || i >= static_cast<int>(shown_.events.size()) || !shown_of_) return;
    Q_EMIT cursorRequested(shown_.events[static_cast<size_t>(i)].context.time_ns);
  });
  head_line_->addWidget(go_);
  auto* split = new QSplitter(Qt::Horizontal);
  body_ = split;
  split->setChildrenCollapsible(false);
  split->setHandleWidth(13);
  auto* side = new QWidget;
  auto* side_column = new QVBoxLayout(side);
  side_column->setContentsMargins(0, 0, 8, 0);
  facts_box_ = new QWidget;
  // Fix the height, so that the layout does not squeeze the lines of facts.
  facts_box_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  facts_ = MakeFactGrid(facts_box_, 4);
  side_column->addWidget(facts_box_);
  side_column->addStretch();
  // Let the facts scroll, because they may need more height than the page has.
  auto* scrolled = new QScrollArea;
  scrolled->setObjectName(QStringLiteral("oomFacts"));
  scrolled->setWidget(side);
  scrolled->setWidgetResizable(true);
  scrolled->setFrameShape(QFrame::NoFrame);
  scrolled->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scrolled->setMinimumWidth(220);
  split->addWidget(scrolled);
  auto* tabs = new QTabWidget;
  tabs->setDocumentMode(true);
  tabs->tabBar()->setDrawBase(false);
  ways_ = new TableModel(this);
  ways_view_ = MakeTable(ways_, "waysOutTable");
  connect(ways_view_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    const std::string& name = ways_->table().rows[static_cast<size_t>(index.row())].cells[0].text;
    if (name.find(':') != std::string::npos) Q_EMIT confRequested(QString::fromStdString(name));
  });
  tabs->addTab(ways_view_, tr("Remedies"));
  sites_ = new TableModel(this);
  sites_view_ = MakeTable(sites_, "oomSitesTable");
  tabs->addTab(sites_view_, tr("What used the memory"));
  split->addWidget(tabs);
  split->setSizes({kFactsWidth, 3 * kFactsWidth});
  split->setStretchFactor(1, 1);
  column_->addWidget(split, 1);
  column_->addStretch();
}

void OutOfMemoryPageView::Refresh(int changes) {
  if (changes & kTheme) {
    ways_->setTheme(context_.theme);
    sites_->setTheme(context_.theme);
  }
  if (changes & kDocument) Compute(true);
}

void OutOfMemoryPageView::Compute(bool replay) {
  Clear();
  Head(replay && context_.digest->out_of_memory > 0 ? tr("Replaying remedies …")
                                                    : tr("Searching …"));
  Ask([this, digest = context_.digest, replay](const JobToken& token) -> std::function<void()> {
    explain::OutOfMemoryOptions options;
    options.replay = replay;
    options.progress = token.progress();
    options.cancel = token.cancel();
    auto found = std::make_shared<absl::StatusOr<explain::OutOfMemoryPage>>(
        explain::ExplainOutOfMemory(*digest->trace, options));
    return [this, digest, found] {
      if (!found->ok()) {
        Head(tr("The results could not be computed: %1")
                 .arg(ToQString(std::string(found->status().message()))));
        return;
      }
      shown_of_ = digest;
      Show(**found);
    };
  });
}

void OutOfMemoryPageView::Show(const explain::OutOfMemoryPage& page) {
  shown_ = page;
  const QSignalBlocker block(which_);
  which_->clear();
  for (size_t i = 0; i < shown_.events.size(); ++i)
    which_->addItem(
        tr("%1: requested %2")
            .arg(i + 1)
            .arg(QString::fromStdString(timeline::FormatBytes(shown_.events[i].asked, true))));
  which_->setVisible(shown_.events.size() > 1);
  if (shown_.events.empty() && shown_of_ != nullptr && shown_of_->state()) {
    Head(tr("This snapshot has no history, so it does not record whether the program ran out of "
            "memory. Reserved memory: %1.")
             .arg(QString::fromStdString(timeline::FormatBytes(shown_.peak_reserved))));
    return;
  }
  if (shown_.events.empty()) {
    QString text = QString::fromStdString(shown_.headline);
    // The headline states the peak, but only if the device's memory size is known.
    if (shown_.device_memory == 0)
      text +=
          tr(" At most %1 was reserved. The file does not contain the size of the device's memory.")
              .arg(QString::fromStdString(timeline::FormatBytes(shown_.peak_reserved)));
    Head(text);
    return;
  }
  body_->show();
  go_->show();
  ShowEvent(0);
}

void OutOfMemoryPageView::ShowEvent(int index) {
  if (index < 0 || index >= static_cast<int>(shown_.events.size())) return;
  const explain::OutOfMemory& oom = shown_.events[static_cast<size_t>(index)];
  QString head = QString::fromStdString(oom.headline);
  if (shown_.count > 1)
    head = tr("%1 (%2 out-of-memory errors in the trace)").arg(head).arg(shown_.count);
  Head(head);
  FillFacts(facts_, OutOfMemoryFacts(oom), FactStyle::kRight);
  ways_->setTable(WaysOutTable(oom));
  sites_->setTable(GroupTable(i18n::Text("Call site"), oom.sites));
}

void OutOfMemoryPageView::Cancelled() {
  Head(tr("Cancelled. The results of the replays are missing."));
  Compute(false);
}

void OutOfMemoryPageView::Clear() {
  shown_ = {};
  shown_of_.reset();
  ClearLayout(facts_);
  ways_->setTable({});
  sites_->setTable({});
  which_->clear();
  which_->hide();
  body_->hide();
  go_->hide();
}

QJsonObject OutOfMemoryPageView::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  out["events"] = static_cast<double>(shown_.count);
  if (!shown_.events.empty()) {
    const int i = std::max(0, which_->currentIndex());
    QJsonObject facts;
    for (const Fact& fact : OutOfMemoryFacts(shown_.events[static_cast<size_t>(i)]))
      facts[QString::fromStdString(fact.label)] = QString::fromStdString(fact.value);
    out["facts"] = facts;
  }
  out["ways"] = ways_view_->dumpState();
  out["sites"] = sites_view_->dumpState();
  return out;
}

}  // namespace vramscope::ui
