// Two traces side by side, as tables: decided here, without Qt.
//
//   const Comparison c = Compare(baseline, shown, std::nullopt);
//   c.sites.rows[0].cells[5].text;   // "+1.25 GiB"
//
// Pure functions of immutable digests; thread-safe. Tens of milliseconds for a million events.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>

#include "profiler/explain/explain.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

enum class CompareBy : uint8_t { kSite, kCategory, kPhase, kStep };

struct Comparison {
  explain::TraceDiff diff;
  Table tables[4];  // row = CompareBy; greatest difference first, phases and steps in time
  std::string headline;
};
// At both peaks, or those within one step that both have.
absl::StatusOr<Comparison> Compare(const Digest& baseline, const Digest& shown,
                                   std::optional<int32_t> step);
// Of a table: the column with the signed difference.
int DifferenceColumn(CompareBy by);

}  // namespace vramscope::ui
