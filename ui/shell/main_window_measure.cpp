// The marks A and B, which are the ends of the selected range. The breakdown panel shows the
// figures of this range.
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <algorithm>

#include "ui/panels/breakdown_panel.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/model/moments.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {

void MainWindow::ConnectMarks() {
  const auto forget = [this] { marks_ = {-1, -1}; };
  connect(timeline_, &timeline::TimelineWidget::dataShown, this, forget);
  connect(timeline_, &timeline::TimelineWidget::rangeSelected, this, forget);
}

void MainWindow::AddMeasureActions() {
  const auto add = [this](const char* id, const QString& text, const char* key, size_t mark) {
    actions_.Add({.id = QString::fromLatin1(id),
                  .menu = tr("Edit"),
                  .text = text,
                  .shortcuts = {QKeySequence(QString::fromLatin1(key))},
                  .run = [this, mark] { SetMark(mark); },
                  .enabled = [this] { return session().shown() != nullptr && !StateIsShown(); },
                  .tip = tr("Sets the mark at the cursor, or at the selection if there is no "
                            "cursor. Marks A and B together select a range"),
                  .why_not = tr("A snapshot without a history has no timeline"),
                  .separator_before = mark == 0,
                  .words = {tr("measure"), tr("range")}});
  };
  add("edit.mark-a", tr("Set mark A"), "Ctrl+[", 0);
  add("edit.mark-b", tr("Set mark B"), "Ctrl+]", 1);
  actions_.Add({.id = "edit.copy-measurement",
                .menu = tr("Edit"),
                .text = tr("Copy the measurement"),
                .shortcuts = {QKeySequence(QStringLiteral("Ctrl+Shift+M"))},
                .run =
                    [this] {
                      const QString text = breakdown_->measurement();
                      if (text.isEmpty())
                        return Say(tr("Not copied: the range is still being computed"));
                      QApplication::clipboard()->setText(text);
                    },
                .enabled =
                    [this] {
                      const auto [begin, end] = timeline_->range();
                      return begin < end;
                    },
                .tip = tr("Copies the values of the selected range as TSV: the time, the changes "
                          "in memory, and the bytes allocated and freed by category"),
                .why_not = tr("Select a range first: drag in the timeline, or set marks A and B"),
                .words = {tr("measure"), tr("range"), tr("tsv")}});
}

void MainWindow::SetMark(size_t mark) {
  qint64 at = timeline_->cursorTime();
  if (at < 0) {
    const std::optional<query::Thing> thing = timeline_->selectedThing();
    if (!thing) return Say(tr("Place the cursor first: click in the memory curve or on the ruler"));
    const trace::Trace& trace = timeline_->data()->trace();
    at = mark == 0 ? query::BeginOf(trace, *thing) : query::EndOf(trace, *thing);
  }
  const auto [begin, end] = timeline_->range();
  const qint64 other = begin >= end ? marks_[1 - mark] : mark == 0 ? end : begin;
  if (other < 0 || other == at) {
    marks_[mark] = at;
    const QString moment =
        QString::fromStdString(timeline::TimeTextOf(timeline_->data()->trace(), at));
    return Say(mark == 0 ? tr("Mark A at %1; now set mark B (Ctrl+])").arg(moment)
                         : tr("Mark B at %1; now set mark A (Ctrl+[)").arg(moment));
  }
  timeline_->setRange(std::min(at, other), std::max(at, other));
  breakdown_dock_->show();
}

}  // namespace vramscope::ui
