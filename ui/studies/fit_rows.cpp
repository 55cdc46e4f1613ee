#include "ui/studies/fit_rows.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/run/units.h"

namespace vramscope::ui {

std::string SignedSize(double bytes) {
  return bytes < 0 ? "\u2212" + run::FormatBytes(static_cast<uint64_t>(-bytes))
                   : run::FormatBytes(static_cast<uint64_t>(bytes));
}

Table FitTable() {
  return {.columns = {{.title = i18n::Text("Proposal"), .width = 220},
                      {.title = i18n::Text("Saves"), .number = true},
                      {.title = i18n::Text("Time"), .number = true},
                      {.title = i18n::Text("Why"), .width = 320}},
          .rows = {}};
}

void AddFitRow(Table& table, std::string name, std::string saves, std::string time, std::string why,
               bool marked) {
  Row row;
  for (std::string* text : {&name, &saves, &time, &why})
    row.cells.push_back({.text = std::move(*text)});
  row.marked = marked;
  table.rows.push_back(std::move(row));
}

bool AddStartRow(Table& table, const QJsonObject& start) {
  const bool fits = start.value(QLatin1String("fits")).toBool();
  if (!start.isEmpty())
    AddFitRow(table,
              i18n::Format("Unchanged: needs {}",
                           SignedSize(start.value(QLatin1String("needed")).toDouble())),
              "", fmt::format("{:.1f} ms", start.value(QLatin1String("step_ms")).toDouble()),
              fits ? i18n::Text("fits") : i18n::Text("does not fit"), true);
  return fits;
}

std::string FitVerdict(const QJsonObject& proposal) {
  std::string text = proposal.value(QLatin1String("fits")).toBool() ? i18n::Text("fits")
                                                                    : i18n::Text("does not fit");
  const QString changes = proposal.value(QLatin1String("changes")).toString();
  text += changes == QLatin1String("nothing") ? i18n::Text("; training semantics unchanged")
          : changes == QLatin1String("rounding")
              ? i18n::Text("; the same training at lower precision")
              : i18n::Text("; changes the training");
  return text;
}

}  // namespace vramscope::ui
