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
// Adds a label and its figure to a grid that has two such pairs per row. `at` is the pair's index.
// If the pair does not fit, only the label is elided. Label and figure have the tool tip `tip`.
void AddFigure(QGridLayout* grid, int at, const QString& label, const QString& figure,
               const QString& tip = {});
// If the page is too low, keeps the height of the figures, and of one row of the tables below them.
// The page then scrolls.
void KeepFiguresApart(QWidget* figures, QTabWidget* below);
// When a row of the table becomes current or is clicked, selects in the timeline what the row
// names: its time, its blocks or its allocation.
void PointsAtTimeline(TableView* view, TableModel* model, ExplainPage* page);

QLineEdit* FilterEdit(const QString& placeholder, const char* name);
// Shows the rows of `all` that have `text` in a text cell or its tool tip and for which `keep`, if
// given, returns true. Sorts them by the column that the header indicates.
void ShowFiltered(TableView* view, TableModel* model, const Table& all, const QString& text,
                  const std::function<bool(const Row&)>& keep = {});

}  // namespace vramscope::ui
