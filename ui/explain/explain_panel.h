// All explain pages: their shared context, their names and their tabs.
//
//   explain_ = new ExplainPanel(tabs, this);
//   explain_->setDigest(digest);
//   explain_->open("fragmentation");
//
// UI thread only. A hidden page computes nothing.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <vector>

#include "ui/explain/explain_page.h"

class QTabWidget;

namespace vramscope::ui {

class WhatIfPage;

class ExplainPanel : public QObject {
  Q_OBJECT
 public:
  struct PageInfo {
    const char* id;   // "fragmentation"
    QString title;    // title of the tab
    QString command;  // "Explain: fragmentation and segments"
    const char* shortcut;
    ExplainPage* page = nullptr;
    // Whether the page needs the allocator's history, which some snapshots do not contain.
    bool replays = false;
  };

  explicit ExplainPanel(QTabWidget* tabs, QObject* parent = nullptr);
  const std::vector<PageInfo>& pages() const { return pages_; }
  ExplainPage* page(const QString& id) const;  // null: no such page
  void open(const QString& id);                // makes the page's tab the current tab

  // `partial`: the document is still loading. Pages show nothing until it is complete, because
  // incomplete data would mislead.
  void setDigest(const std::shared_ptr<const Digest>& digest, bool partial = false);
  // Sets the trace to compare with; null: none. `pinned`: this trace is the baseline.
  void setAgainst(std::shared_ptr<const Digest> against, bool pinned);
  void setCursorTime(qint64 time_ns);
  void setRange(qint64 begin_ns, qint64 end_ns);
  void setView(qint64 begin_ns, qint64 end_ns);
  void setSelection(trace::AllocationId id);
  void setTheme(const timeline::Theme& theme);
  void setConf(const QString& alloc_conf);  // sets the settings of the what-if page

  bool busy() const;
  void cancel();
  QJsonObject dumpState() const;

 Q_SIGNALS:
  void allocationClicked(vramscope::trace::AllocationId id);
  void blocksClicked(const std::vector<vramscope::trace::AllocationId>& blocks,
                     vramscope::trace::AllocationId id);
  void cursorRequested(qint64 time_ns);
  void actionRequested(const QString& id);

 private:
  void Changed(int changes);
  ExplainContext context_;
  QTabWidget* tabs_;
  std::vector<PageInfo> pages_;
  WhatIfPage* what_if_ = nullptr;
};

}  // namespace vramscope::ui
