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

enum class CompareBy : uint8_t { kSite, kCategory, kPhase, kStep, kRequest, kKernel };
inline constexpr int kCompareBys = 6;
// The streams of requests are aligned first: seconds, where two long ones have little in common.
constexpr bool NeedsAlignment(CompareBy by) {
  return by == CompareBy::kRequest || by == CompareBy::kKernel;
}

struct Comparison {
  explain::TraceDiff diff;
  // By CompareBy; greatest difference first, phases, steps and requests in time. Those that need an
  // alignment are empty without it.
  Table tables[kCompareBys];
  std::string headline;
  bool aligned = false;
  std::string requests_headline, kernels_headline;
};
// At both peaks, or those within one step that both have; what is aligned is of that step, or of
// the last whole one that both have.
absl::StatusOr<Comparison> Compare(const Digest& baseline, const Digest& shown,
                                   std::optional<int32_t> step, bool align = false);
// Of a table: the column with the signed difference.
int DifferenceColumn(CompareBy by);

}  // namespace vramscope::ui
