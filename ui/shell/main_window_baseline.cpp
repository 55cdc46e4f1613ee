// The commands for the baseline: pin it, draw it behind the shown run, and swap it with the shown
// run.
#include <QDateTime>

#include "profiler/trace/processes.h"
#include "ui/explain/explain_panel.h"
#include "ui/panels/qt_theme.h"
#include "ui/shell/main_window.h"
#include "ui/timeline/timeline_widget.h"

namespace vramscope::ui {

void MainWindow::UpdateBaseline() {
  const std::shared_ptr<const Digest> ghost = session().Against();
  explain_->setAgainst(ghost, session().baseline() != nullptr);
  if (ghost == nullptr || ghost == session().shown() || session().shown() == nullptr) {
    timeline_->setBaselineTrace(nullptr);
  } else {
    // Label it with the baseline's name. If it is another GPU of the shown run, use the name of
    // that GPU instead.
    const bool of_this_run = ghost->whole != nullptr && ghost->whole == session().shown()->whole;
    timeline_->setBaselineTrace(
        ghost->trace,
        of_this_run            ? ToQString(trace::NameOfDevice(*ghost->whole, *ghost->device))
        : session().baseline() ? tr("baseline %1").arg(QString::fromStdString(ghost->name))
                               : tr("previous run"),
        ghost->curves);
  }
}

void MainWindow::PinBaseline() {
  SetBaseline(session().shown(), ShownFile());
  Say(tr("%1 is now the baseline").arg(QString::fromStdString(session().shown()->name)));
}

void MainWindow::UnpinBaseline() {
  SetBaseline(nullptr, {});
  Say(tr("No baseline: runs are compared with the previous run"));
}

void MainWindow::SetBaseline(std::shared_ptr<const Digest> digest, const QString& file,
                             bool for_this_only) {
  session().SetBaseline(std::move(digest), file.toStdString(), for_this_only);
  UpdateBaseline();
  actions_.Refresh();
}

// Shows the baseline's document, and makes the document that was shown before its baseline. If the
// baseline is an earlier result of the same document, shows that result, and the newer result stays
// in the history.
void MainWindow::SwapBaseline() {
  const std::shared_ptr<const Digest> now = session().shown(), pinned = session().baseline();
  const std::string file = session().file(), pinned_file = session().baseline_file();
  Document* other =
      documents_.FindIf([&](const Document& d) { return d.session.shown() == pinned; });
  if (other == nullptr && !pinned_file.empty()) {
    other = &documents_.Open({.kind = SourceKind::kFile, .file = pinned_file});
    other->session.ShowFile(pinned_file);
    other->Arrived(pinned, false, QDateTime::currentSecsSinceEpoch());
  }
  if (other != nullptr) {
    other->session.SetBaseline(now, file);
    showDocument(other->id());
  } else {
    digests_.cancel(doc().id());  // a digest that is still pending would replace the wrong result
    session().SwapBaseline();
    doc().Expect(std::nullopt);
    if (pinned->trace->info.has_config) SetConfig(pinned->trace->info.config);
    ShowDigest(doc().id(), pinned, false, false);
  }
  Say(tr("%1 is compared with baseline %2")
          .arg(QString::fromStdString(session().shown()->name),
               QString::fromStdString(session().baseline()->name)));
}

}  // namespace vramscope::ui
