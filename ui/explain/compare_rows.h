// Compares two traces, as tables. Does not use Qt.
//
//   const Comparison c = *Compare(baseline, shown, std::nullopt);
//   const Table& sites = c.tables[static_cast<size_t>(CompareBy::kSite)];
//   sites.rows[0].cells[5].text;   // "+1.25 GiB"
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
// Whether the table needs an alignment, which matches the two traces' sequences of allocations one
// by one. Aligning long sequences that have little in common takes seconds.
constexpr bool NeedsAlignment(CompareBy by) {
  return by == CompareBy::kRequest || by == CompareBy::kKernel;
}

struct Comparison {
  explain::TraceDiff diff;
  // Indexed by CompareBy. Phases, steps, allocations and kernels are in order of time; other tables
  // begin with the largest difference. Tables that need an alignment are empty without one.
  Table tables[kCompareBys];
  std::string headline;
  bool aligned = false;
  std::string requests_headline, kernels_headline;
};
// Compares the peaks of both traces. If `step` is given, both traces must have it, and their peaks
// within this step are compared. `align`: also aligns the sequences of allocations in `step` or, if
// it is not given, in the last complete step.
absl::StatusOr<Comparison> Compare(const Digest& baseline, const Digest& shown,
                                   std::optional<int32_t> step, bool align = false);
// Returns the index of the column with the signed difference.
int DifferenceColumn(CompareBy by);

}  // namespace vramscope::ui
