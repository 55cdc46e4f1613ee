// The pages of kernels and of the search among the tables, and what they and the timeline say to
// each other.
#include <QTabWidget>

#include "ui/panels/breakdown_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {

void MainWindow::BuildPages() {
  const QString nothing =
      tr("No run yet: plan one (Ctrl+R), or open a recording (Ctrl+O, or drop it here).");
  kernels_ = new KernelsPanel;
  kernels_->setEmptyText(nothing);
  tabs_->addTab(kernels_, tr("Kernels"));
  search_ = new SearchPanel;
  search_->setEmptyText(nothing);
  tabs_->addTab(search_, tr("Search"));
}

void MainWindow::ConnectPages() {
  connect(timeline_, &timeline::TimelineWidget::dataShown, this, [this] {
    kernels_->setIndexes(timeline_->data());
    search_->setIndexes(timeline_->data());
  });
  connect(timeline_, &timeline::TimelineWidget::rangeSelected, kernels_, &KernelsPanel::setRange);
  connect(timeline_, &timeline::TimelineWidget::rangeSelected, search_, &SearchPanel::setRange);
  connect(kernels_, &KernelsPanel::marked, timeline_, &timeline::TimelineWidget::mark);
  connect(search_, &SearchPanel::marked, timeline_, &timeline::TimelineWidget::mark);
  const auto follow = [this](timeline::Link::To to, uint32_t row) { timeline_->follow({to, row}); };
  connect(kernels_, &KernelsPanel::activityClicked, this,
          [follow](uint32_t activity) { follow(timeline::Link::To::kActivity, activity); });
  connect(search_, &SearchPanel::thingClicked, this, [follow](const query::Thing& thing) {
    follow(thing.block()      ? timeline::Link::To::kAllocation
           : thing.activity() ? timeline::Link::To::kActivity
                              : timeline::Link::To::kSlice,
           thing.row);
  });
  const auto search = [this](const QString& filter) {
    openPage(QStringLiteral("search"));
    search_->search(filter);
  };
  connect(timeline_, &timeline::TimelineWidget::searchRequested, this, search);
  connect(breakdown_, &BreakdownPanel::searchRequested, this, search);
  connect(breakdown_, &BreakdownPanel::categoriesHidden, timeline_,
          &timeline::TimelineWidget::hideCategories);
  const auto leave = [this] { timeline_->setRange(0, 0); };
  connect(kernels_, &KernelsPanel::rangeLeft, this, leave);
  connect(search_, &SearchPanel::rangeLeft, this, leave);
}

}  // namespace vramscope::ui
