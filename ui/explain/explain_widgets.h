// Small parts that the explain pages share.
#pragma once

#include <QString>
#include <QToolButton>

#include "ui/explain/explain_page.h"
#include "ui/panels/table_panel.h"

namespace vramscope::ui {

QToolButton* QuietButton(const QString& text, const QString& tip);
TableView* MakeTable(TableModel* model, const char* name);
// A row that is chosen selects its allocation (Row::allocation) in the window.
void SelectsAllocations(TableView* view, TableModel* model, ExplainPage* page);

}  // namespace vramscope::ui
