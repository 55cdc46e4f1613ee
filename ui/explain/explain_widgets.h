// Small parts that several explain pages use.
#pragma once

#include <QString>
#include <QToolButton>
#include <functional>

#include "ui/explain/explain_page.h"
#include "ui/panels/table_panel.h"

class QLineEdit;

namespace vramscope::ui {

QToolButton* QuietButton(const QString& text, const QString& tip);
TableView* MakeTable(TableModel* model, const char* name);
// Shows the current row in the timeline: its time, its blocks or its allocation.
void PointsAtTimeline(TableView* view, TableModel* model, ExplainPage* page);

QLineEdit* FilterEdit(const QString& placeholder, const char* name);
// Shows those rows of `all` that contain `text` in a text cell or its tool tip, and for which
// `keep` is true (null: all), sorted by the column that the header indicates.
void ShowFiltered(TableView* view, TableModel* model, const Table& all, const QString& text,
                  const std::function<bool(const Row&)>& keep = {});

}  // namespace vramscope::ui
