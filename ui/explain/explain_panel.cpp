#include "ui/explain/explain_panel.h"

#include <QTabWidget>

#include "ui/explain/compare_page.h"
#include "ui/explain/findings_page.h"
#include "ui/explain/fragmentation_page.h"
#include "ui/explain/live_set_page.h"
#include "ui/explain/out_of_memory_page.h"
#include "ui/explain/reclaim_page.h"
#include "ui/explain/state_page.h"
#include "ui/explain/tables_pages.h"
#include "ui/explain/what_if_page.h"

namespace vramscope::ui {

ExplainPanel::ExplainPanel(QTabWidget* tabs, QObject* parent) : QObject(parent), tabs_(tabs) {
  what_if_ = new WhatIfPage(&context_);
  pages_ = {
      {"findings", tr("Findings"), tr("Explain: findings, most bytes first"), "Alt+0",
       new FindingsPage(&context_)},
      {"compare", tr("Compare"), tr("Explain: difference from another trace"), "Alt+1",
       new ComparePage(&context_)},
      {"fragmentation", tr("Fragmentation"), tr("Explain: fragmentation and segments"), "Alt+2",
       new FragmentationPage(&context_)},
      {"live-set", tr("Live set"), tr("Explain: what is allocated at the cursor"), "Alt+9",
       new LiveSetPage(&context_)},
      {"reclaim", tr("Reclaim"), tr("Explain: how to reclaim memory"), "Alt+3",
       new ReclaimPage(&context_)},
      {"what-if", tr("What if"), tr("Explain: other allocator settings"), "Alt+4", what_if_,
       /*replays=*/true},
      {"call-sites", tr("Call sites"),
       tr("Explain: call sites by memory and number of allocations"), "Alt+5",
       new CallSitesPage(&context_)},
      {"leaks", tr("Leaks"), tr("Explain: leaks over steps"), "Alt+6", new LeaksPage(&context_)},
      {"out-of-memory", tr("Out of memory"), tr("Explain: out of memory"), "Alt+7",
       new OutOfMemoryPageView(&context_)},
      {"state", tr("State"), tr("Explain: segments and their owners"), "Alt+8",
       new StatePage(&context_)},
  };
  for (const PageInfo& info : pages_) {
    tabs_->addTab(info.page, info.title);
    connect(info.page, &ExplainPage::allocationClicked, this, &ExplainPanel::allocationClicked);
    connect(info.page, &ExplainPage::blocksClicked, this, &ExplainPanel::blocksClicked);
    connect(info.page, &ExplainPage::actionRequested, this, &ExplainPanel::actionRequested);
    connect(info.page, &ExplainPage::cursorRequested, this, &ExplainPanel::cursorRequested);
    connect(info.page, &ExplainPage::confRequested, this, [this](const QString& conf) {
      setConf(conf);
      open(QStringLiteral("what-if"));
    });
  }
}

ExplainPage* ExplainPanel::page(const QString& id) const {
  for (const PageInfo& info : pages_)
    if (id == QLatin1String(info.id)) return info.page;
  return nullptr;
}

void ExplainPanel::open(const QString& id) {
  if (ExplainPage* found = page(id)) tabs_->setCurrentWidget(found);
}

void ExplainPanel::Changed(int changes) {
  for (const PageInfo& info : pages_) info.page->changed(changes);
}

void ExplainPanel::setDigest(const std::shared_ptr<const Digest>& digest, bool partial) {
  context_.digest = partial ? nullptr : digest;
  context_.opening = partial;
  context_.selection = {};
  Changed(ExplainPage::kDocument | ExplainPage::kSelection);
}

void ExplainPanel::setAgainst(std::shared_ptr<const Digest> against, bool pinned) {
  if (context_.against == against && context_.against_pinned == pinned) return;
  context_.against = std::move(against);
  context_.against_pinned = pinned;
  Changed(ExplainPage::kAgainst);
}

void ExplainPanel::setCursorTime(qint64 time_ns) {
  if (context_.cursor_ns == time_ns) return;
  context_.cursor_ns = time_ns;
  Changed(ExplainPage::kTimeChanged);
}

void ExplainPanel::setRange(qint64 begin_ns, qint64 end_ns) {
  context_.range = {begin_ns, end_ns};
  Changed(ExplainPage::kRange);
}

void ExplainPanel::setView(qint64 begin_ns, qint64 end_ns) {
  context_.view = {begin_ns, end_ns};
  Changed(ExplainPage::kView);
}

void ExplainPanel::setSelection(trace::AllocationId id) {
  context_.selection = id;
  Changed(ExplainPage::kSelection);
}

void ExplainPanel::setTheme(const timeline::Theme& theme) {
  context_.theme = theme;
  Changed(ExplainPage::kTheme);
}

void ExplainPanel::setConf(const QString& alloc_conf) { what_if_->setConf(alloc_conf); }

bool ExplainPanel::busy() const {
  for (const PageInfo& info : pages_)
    if (info.page->busy()) return true;
  return false;
}

void ExplainPanel::cancel() {
  for (const PageInfo& info : pages_) info.page->cancel();
}

QJsonObject ExplainPanel::dumpState() const {
  QJsonObject out;
  for (const PageInfo& info : pages_) out[QLatin1String(info.id)] = info.page->dumpState();
  return out;
}

}  // namespace vramscope::ui
