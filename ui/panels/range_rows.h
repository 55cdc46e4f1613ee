// The figures of a selected range of a trace. Does not use Qt.
//
//   const RangeFigures range = FiguresOfRange(digest, begin_ns, end_ns);
//   for (const Fact& fact : RangeFacts(*digest.trace, range)) ...
//
// Pure functions of immutable traces; thread-safe. Linear in the events up to the range's end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/grouping.h"
#include "ui/panels/allocation_rows.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

struct RangeFigures {
  int64_t begin_ns = 0, end_ns = 0;
  EventSpan span;
  // Allocated bytes: `at_begin` directly before the range's first event, `at_end` directly after
  // its last event, and `peak`, the maximum between these two times.
  uint64_t at_begin = 0, at_end = 0, peak = 0, peak_reserved = 0;
  uint64_t reserved_at_begin = 0, reserved_at_end = 0;  // the same for reserved bytes
  // The live set at `peak`.
  analysis::LiveSet at_peak;
  // Sums over the allocations and frees in the range, without blocks that were allocated before the
  // recording.
  uint64_t allocated_bytes = 0, allocated_count = 0, freed_bytes = 0, freed_count = 0;
  analysis::CategoryBytes allocated_by_category{}, freed_by_category{};
  uint64_t staying_bytes = 0, staying_count = 0;  // allocated in the range and live at its end
  // the part of the staying allocations that is never freed in the trace
  uint64_t unfreed_bytes = 0, unfreed_count = 0;
  // The largest allocations that were made in the range: at most kLargest, the largest first.
  std::vector<trace::AllocationId> largest;
  std::vector<analysis::Group> sites;  // call sites that allocated in the range; at most kSites
  std::vector<int32_t> steps;          // steps that overlap the range
  std::vector<trace::Phase> phases;
  static constexpr size_t kLargest = 8, kSites = 5;
};
RangeFigures FiguresOfRange(const Digest& digest, int64_t begin_ns, int64_t end_ns);

std::vector<Fact> RangeFacts(const trace::Trace& trace, const RangeFigures& range);
// Returns a summary, such as "12.0 ms long, +8.000 MiB; allocated 20.000 MiB in 4 blocks, freed
// nothing".
std::string RangeLine(const trace::Trace& trace, const RangeFigures& range);
// These functions return the bytes allocated or freed in the range by category, the largest first,
// as ("Activation", "1.500 GiB").
std::vector<Fact> RangeCategories(const RangeFigures& range);
std::vector<Fact> RangeFreedCategories(const RangeFigures& range);
// Returns the figures for a spreadsheet. Each line has a name, a tab, and a number of bytes or ns.
std::string RangeAsTsv(const trace::Trace& trace, const RangeFigures& range);

}  // namespace vramscope::ui
