// Rows for the tables of the two *Make it fit* pages, one for a run and one for a program.
#pragma once

#include <QJsonObject>
#include <string>

#include "ui/panels/rows.h"

namespace vramscope::ui {

// Returns a table with the columns for proposals, but without rows.
Table FitTable();
void AddFitRow(Table& table, std::string name, std::string saves, std::string time, std::string why,
               bool marked);
// Adds a row for `start`, the plan without changes: "Unchanged: needs 12.00 GiB". Returns whether
// the plan fits.
bool AddStartRow(Table& table, const QJsonObject& start);
// Returns a text such as "fits; training semantics unchanged" for a proposal of `fit --json`.
std::string FitVerdict(const QJsonObject& proposal);
std::string SignedSize(double bytes);  // "−1.00 GiB" for a negative number

}  // namespace vramscope::ui
