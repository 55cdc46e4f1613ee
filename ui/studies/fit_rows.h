// Rows for the tables of both *Make it fit* pages: for a run, and for a program.
#pragma once

#include <QJsonObject>
#include <string>

#include "ui/panels/rows.h"

namespace vramscope::ui {

// The columns of proposals, without rows.
Table FitTable();
void AddFitRow(Table& table, std::string name, std::string saves, std::string time, std::string why,
               bool marked);
// Adds "Unchanged: needs 12.00 GiB" for `start`, the plan without changes. Returns whether it fits.
bool AddStartRow(Table& table, const QJsonObject& start);
// Returns a text such as "fits; training semantics unchanged" for a proposal of `fit --json`.
std::string FitVerdict(const QJsonObject& proposal);
std::string SignedSize(double bytes);  // "−1.00 GiB" for a negative number

}  // namespace vramscope::ui
