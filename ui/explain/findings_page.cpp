#include "ui/explain/findings_page.h"

#include <QItemSelectionModel>

#include "profiler/explain/findings.h"
#include "ui/explain/explain_rows.h"
#include "ui/explain/explain_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {

FindingsPage::FindingsPage(const ExplainContext* context, QWidget* parent)
    : ExplainPage(context, parent) {
  setObjectName(QStringLiteral("findingsPage"));
  table_ = new TableModel(this);
  view_ = MakeTable(table_, "findingsTable");
  PointsAtTimeline(view_, table_, this);
  // The head line shows the selected row's full texts, because the columns are too narrow for them.
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (!now.isValid() || now.row() >= table_->rowCount()) return;
            const std::vector<Cell>& cells =
                table_->table().rows[static_cast<size_t>(now.row())].cells;
            Head(tr("%1.\nRemedy: %2").arg(ToQString(cells[1].text), ToQString(cells[3].text)));
          });
  AddTable(view_);
}

void FindingsPage::Refresh(int changes) {
  if (changes & kTheme) table_->setTheme(context_.theme);
  if (!(changes & kDocument)) return;
  table_->setTable({});
  if (context_.digest->state()) {
    jobs_.cancel();
    Head(tr("Findings need a history. This file contains only a snapshot without history."));
    return;
  }
  Head(tr("Evaluating %1 rules …").arg(explain::FindingRuleCount()));
  Ask([this, digest = context_.digest](const JobToken&) -> std::function<void()> {
    const std::vector<explain::Finding> findings = explain::FindFindings(*digest->trace);
    auto table = std::make_shared<Table>(findings.empty() ? Table() : FindingTable(findings));
    const QString head = findings.empty()
                             ? QString::fromStdString(explain::NoFindingsText())
                             : tr("Findings: %1 (%2 rules evaluated), most bytes first. Select a "
                                  "finding to mark its largest blocks in the timeline.")
                                   .arg(findings.size())
                                   .arg(explain::FindingRuleCount());
    return [this, table, head] {
      table_->setTable(*table);
      Head(head);
    };
  });
}

void FindingsPage::Clear() { table_->setTable({}); }

void FindingsPage::Cancelled() {
  Head(tr("Cancelled. Reopen the document to evaluate the rules."));
}

QJsonObject FindingsPage::dumpState() const {
  QJsonObject out = ExplainPage::dumpState();
  out["table"] = view_->dumpState();
  return out;
}

}  // namespace vramscope::ui
