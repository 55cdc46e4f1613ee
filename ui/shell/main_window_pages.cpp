// The pages of the tables dock. This file builds all pages, shows those that apply, and connects
// the kernels page and the search page with the timeline.
#include <QDockWidget>
#include <QPlainTextEdit>
#include <QTabBar>
#include <QTabWidget>

#include "ui/explain/explain_panel.h"
#include "ui/notes/note_store.h"
#include "ui/panels/allocations_panel.h"
#include "ui/panels/breakdown_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/phases_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/table_panel.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/model/thing_facts.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {
namespace {

constexpr int kLogLines = 5000;

}  // namespace

void MainWindow::BuildTables() {
  tabs_ = new QTabWidget;
  tabs_->setObjectName(QStringLiteral("tables"));
  tabs_->setDocumentMode(true);
  tabs_->tabBar()->setDrawBase(false);
  tabs_->tabBar()->setExpanding(false);

  phases_ = new PhasesPanel;
  const QString nothing =
      tr("No run yet: plan one (Ctrl+R), or open a recording (Ctrl+O, or drop it here).");
  phases_->setEmptyText(nothing);
  tabs_->addTab(phases_, tr("Phases"));

  allocations_ = new AllocationsPanel;
  allocations_->setEmptyText(nothing);
  tabs_->addTab(allocations_, tr("Allocations"));
  BuildPages();

  explain_ = new ExplainPanel(tabs_, this);

  log_ = new QPlainTextEdit;
  log_->setObjectName(QStringLiteral("log"));
  log_->setReadOnly(true);
  log_->setMaximumBlockCount(kLogLines);
  log_->setFont(PanelFont(timeline::Font::kMonoSmall));
  tabs_->addTab(log_, tr("Log"));
}

void MainWindow::BuildPages() {
  const QString nothing =
      tr("No run yet: plan one (Ctrl+R), or open a recording (Ctrl+O, or drop it here).");
  kernels_ = new KernelsPanel;
  kernels_->setEmptyText(nothing);
  tabs_->addTab(kernels_, tr("Kernels"));
  search_ = new SearchPanel;
  search_->setEmptyText(nothing);
  tabs_->addTab(search_, tr("Search"));
  BuildNotes(nothing);
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
  connect(kernels_, &KernelsPanel::activityClicked, this, [this](uint32_t activity) {
    timeline_->follow({timeline::Link::To::kActivity, activity});
  });
  connect(search_, &SearchPanel::thingClicked, this,
          [this](const query::Thing& thing) { timeline_->follow(timeline::LinkTo(thing)); });
  connect(search_, &SearchPanel::noteClicked, this, [this](size_t note) {
    if (note < notes_->notes().size()) RevealNote(notes_->notes()[note]);
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
  for (TableView* table : tabs_->findChildren<TableView*>())
    table->setLinkMenu([this](const timeline::Link& link, QWidget* parent) {
      return timeline_->linkMenu(link, parent);
    });
  ConnectNotes();
  ConnectMarks();
}

// Hides the out-of-memory tab unless memory ran out. If the trace is a snapshot without history,
// also hides all tabs about steps or history. Commands can still open hidden pages.
void MainWindow::ShowTabs() {
  const QStringList pages = pageNames();
  const bool state = session().shown()->state();
  const auto wanted = [&](const QString& page) {
    if (page == QLatin1String("out-of-memory")) return session().shown()->out_of_memory > 0;
    if (page == QLatin1String("state")) return state;
    return !state || page == QLatin1String("allocations") ||
           page == QLatin1String("fragmentation") || page == QLatin1String("live-set") ||
           page == QLatin1String("log");
  };
  const bool turned = state != showing_state_;
  showing_state_ = state;
  if (turned) openPage(state ? QStringLiteral("state") : QStringLiteral("phases"));
  // If the recorded run ran out of memory, open the page that explains why.
  const QString out_of_memory = QStringLiteral("out-of-memory");
  const bool ran_out = session().shown()->recorded() && session().shown()->out_of_memory > 0;
  if (ran_out && !ran_out_ && !state) {
    openPage(out_of_memory);
  } else if (!ran_out && ran_out_ && tabs_->currentIndex() == pages.indexOf(out_of_memory)) {
    openPage(QStringLiteral("phases"));
  }
  ran_out_ = ran_out;
  for (int tab = 0; tab < pages.size(); ++tab) {
    const bool visible = tab == tabs_->currentIndex() || wanted(pages[tab]);
    if (tabs_->isTabVisible(tab) != visible) tabs_->setTabVisible(tab, visible);
  }
  // For a snapshot without history, there is no timeline, so its page gets most of the height.
  if (turned) layout_.growTables(state);
}

QStringList MainWindow::pageNames() const {
  QStringList names = {QStringLiteral("phases"), QStringLiteral("allocations"),
                       QStringLiteral("kernels"), QStringLiteral("search"),
                       QStringLiteral("notes")};
  for (const ExplainPanel::PageInfo& info : explain_->pages()) names << QLatin1String(info.id);
  return names << QStringLiteral("fit") << QStringLiteral("waterfall") << QStringLiteral("vary")
               << QStringLiteral("experiments") << QStringLiteral("log");
}

void MainWindow::openPage(const QString& id) {
  const auto at = static_cast<int>(pageNames().indexOf(id));  // the tabs have the same order
  if (at < 0) return;
  tabs_->setTabVisible(at, true);
  tables_dock_->show();
  tabs_->setCurrentIndex(at);
}

// Moves the focus to the opened page. Otherwise, the canvas would take typed letters for its keys.
void MainWindow::FocusPage() {
  QWidget* page = tabs_->currentWidget();
  QWidget* at = page;
  do {
    at = at->nextInFocusChain();
  } while (at != page && !(page->isAncestorOf(at) && at->isVisible() && at->isEnabled() &&
                           (at->focusPolicy() & Qt::TabFocus) != 0));
  at->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace vramscope::ui
