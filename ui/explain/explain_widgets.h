// Small parts that the explain pages share.
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
// A row that is chosen is shown in the timeline: its moment, its blocks, its allocation.
void PointsAtTimeline(TableView* view, TableModel* model, ExplainPage* page);

QLineEdit* FilterEdit(const QString& placeholder, const char* name);
// The rows that have the text in one of their words and that `keep` (null: all), in the order that
// the header says.
void ShowFiltered(TableView* view, TableModel* model, const Table& all, const QString& text,
                  const std::function<bool(const Row&)>& keep = {});

}  // namespace vramscope::ui
