#include "ui/explain/explain_widgets.h"

#include <QGridLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QTabWidget>

#include "ui/panels/form_widgets.h"
#include "ui/panels/qt_theme.h"

namespace vramscope::ui {
namespace {

constexpr int kTablesLeast = 96;  // the tabs, the header and a row

}  // namespace

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

void AddFigure(QGridLayout* grid, int at, const QString& label, const QString& figure,
               const QString& tip) {
  auto* name = new ElidedLabel(LabelRole::kDim);
  // With an ignored size policy, the grid would give the label only its minimum width.
  name->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  name->setFullText(label, tip);
  QLabel* value = MakeLabel(figure, LabelRole::kNumber);
  value->setTextInteractionFlags(Qt::TextSelectableByMouse);
  value->setToolTip(tip);
  grid->addWidget(name, at / 2, at % 2 * 2);
  grid->addWidget(value, at / 2, at % 2 * 2 + 1, Qt::AlignRight);
}

void KeepFiguresApart(QWidget* figures, QTabWidget* below) {
  figures->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  below->setMinimumHeight(kTablesLeast);
}

void PointsAtTimeline(TableView* view, TableModel* model, ExplainPage* page) {
  const auto point = [model, page](const QModelIndex& now) {
    if (!now.isValid() || now.row() >= model->rowCount()) return;
    const Row row = model->table().rows[static_cast<size_t>(now.row())];
    if (row.time_ns >= 0) Q_EMIT page->cursorRequested(row.time_ns);
    if (row.blocks != nullptr) {
      Q_EMIT page->blocksClicked(*row.blocks, row.allocation);
    } else if (row.allocation.valid()) {
      Q_EMIT page->allocationClicked(row.allocation);
    }
  };
  // If the timeline has cleared the selection, a click on the current row selects its blocks again.
  QObject::connect(view, &QAbstractItemView::clicked, page, point);
  QObject::connect(view, &QAbstractItemView::activated, page, point);
  QObject::connect(view->selectionModel(), &QItemSelectionModel::currentRowChanged, page, point);
}

QLineEdit* FilterEdit(const QString& placeholder, const char* name) {
  auto* edit = new QLineEdit;
  edit->setObjectName(QString::fromLatin1(name));
  edit->setPlaceholderText(placeholder);
  edit->setClearButtonEnabled(true);
  edit->setMaximumWidth(280);
  return edit;
}

void ShowFiltered(TableView* view, TableModel* model, const Table& all, const QString& text,
                  const std::function<bool(const Row&)>& keep) {
  const QString needle = text.trimmed();
  const auto matches = [&](const Row& row) {
    if (needle.isEmpty()) return true;
    for (size_t c = 0; c < row.cells.size(); ++c) {
      if (all.columns[c].number) continue;
      const Cell& cell = row.cells[c];
      for (const std::string& word : {cell.text, cell.exact})
        if (QString::fromStdString(word).contains(needle, Qt::CaseInsensitive)) return true;
    }
    return false;
  };
  view->setEmptyText(all.rows.empty()   ? QString()
                     : needle.isEmpty() ? QObject::tr("No differences.")
                                        : QObject::tr("No row matches the filter."));
  Table shown;
  shown.columns = all.columns;
  for (const Row& row : all.rows)
    if ((!keep || keep(row)) && matches(row)) shown.rows.push_back(row);
  model->setTable(std::move(shown));
  view->sortAsBefore();
}

}  // namespace vramscope::ui
