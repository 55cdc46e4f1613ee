// Helper functions that several explain pages use.
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
// Adds a label and its figure to a grid with two such pairs per row. `at` is the pair's index. If
// they do not fit, the label is elided, not the figure. Both have the tool tip `tip`.
void AddFigure(QGridLayout* grid, int at, const QString& label, const QString& figure,
               const QString& tip = {});
// If the page is too low, shrinks the tables below the figures, so that the lines of figures do not
// overlap.
void KeepFiguresApart(QWidget* figures, QTabWidget* below);
// When a row of the table becomes current or is clicked, selects in the timeline what the row
// names: its time, its blocks or its allocation.
void PointsAtTimeline(TableView* view, TableModel* model, ExplainPage* page);

QLineEdit* FilterEdit(const QString& placeholder, const char* name);
// Shows the rows of `all` with `text` in a text cell or its tool tip, sorted by the column that the
// header indicates. If `keep` is given, it must also be true for a row.
void ShowFiltered(TableView* view, TableModel* model, const Table& all, const QString& text,
                  const std::function<bool(const Row&)>& keep = {});

}  // namespace vramscope::ui
