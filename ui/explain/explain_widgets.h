// Small parts that several explain pages use.
#pragma once

#include <QString>
#include <QToolButton>
#include <functional>

#include "ui/explain/explain_page.h"
#include "ui/panels/table_panel.h"

class QGridLayout;
class QLabel;
class QLineEdit;
class QTabWidget;

namespace vramscope::ui {

QToolButton* QuietButton(const QString& text, const QString& tip);
TableView* MakeTable(TableModel* model, const char* name);
// Adds a label and its figure as pair number `at` (from 0) to a grid with two pairs per row.
// Without enough room, the label is elided, not the figure. Both show `tip`.
void AddFigure(QGridLayout* grid, int at, const QString& label, const QString& figure,
               const QString& tip = {});
// Without enough height, the tables below the figures shrink, so that the lines of figures do not
// overlap.
void KeepFiguresApart(QWidget* figures, QTabWidget* below);
// When a row of the table becomes current or is clicked, selects in the timeline what the row
// names: its time, its blocks or its allocation.
void PointsAtTimeline(TableView* view, TableModel* model, ExplainPage* page);

QLineEdit* FilterEdit(const QString& placeholder, const char* name);
// Shows those rows of `all` that contain `text` in a text cell or its tool tip, and for which
// `keep` is true (null: all), sorted by the column that the header indicates.
void ShowFiltered(TableView* view, TableModel* model, const Table& all, const QString& text,
                  const std::function<bool(const Row&)>& keep = {});

}  // namespace vramscope::ui
