#include "ui/explain/explain_widgets.h"

#include <QHeaderView>
#include <QItemSelectionModel>

#include "ui/panels/qt_theme.h"

namespace vramscope::ui {

QToolButton* QuietButton(const QString& text, const QString& tip) {
  auto* button = new QToolButton;
  button->setProperty("role", "chip");
  button->setText(text);
  button->setToolTip(tip);
  button->setFont(PanelFont(timeline::Font::kSmall));
  button->setCursor(Qt::PointingHandCursor);
  return button;
}

TableView* MakeTable(TableModel* model, const char* name) {
  auto* view = new TableView;
  view->setObjectName(QString::fromLatin1(name));
  view->setRowModel(model);
  view->setSortingEnabled(true);
  view->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  return view;
}

void SelectsAllocations(TableView* view, TableModel* model, ExplainPage* page) {
  QObject::connect(view->selectionModel(), &QItemSelectionModel::currentRowChanged, page,
                   [model, page](const QModelIndex& now) {
                     if (!now.isValid() || now.row() >= model->rowCount()) return;
                     const trace::AllocationId id =
                         model->table().rows[static_cast<size_t>(now.row())].allocation;
                     if (id.valid()) Q_EMIT page->allocationClicked(id);
                   });
}

}  // namespace vramscope::ui
