// The rows that the pages *Make it fit* of a run and of a program share.
#pragma once

#include <QJsonObject>
#include <string>

#include "ui/panels/rows.h"

namespace vramscope::ui {

// The columns of proposals, without rows.
Table FitTable();
void AddFitRow(Table& table, std::string name, std::string saves, std::string time, std::string why,
               bool marked);
// "As it is: needs 12.00 GiB"; `start`: the plan without changes. Returns whether it fits.
bool AddStartRow(Table& table, const QJsonObject& start);
// "fits; training semantics unchanged", for a proposal of `fit --json`.
std::string FitVerdict(const QJsonObject& proposal);
std::string SignedSize(double bytes);  // "−1.00 GiB" for a negative number

}  // namespace vramscope::ui
