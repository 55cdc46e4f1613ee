// The table of what the device did, and the table of what a search has found. Without Qt.
//
//   KernelTable(query::SumKernels(index, query::KernelsBy::kOp), query::KernelsBy::kOp, *trace)
//
// Pure functions of immutable data; thread-safe. The figures are those of `vramscope kernels`.
#pragma once

#include "profiler/query/kernel_sums.h"
#include "profiler/query/search.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// A row's `group` is the number of its sum, its `activity` the longest that is counted in it.
Table KernelTable(const query::KernelSums& sums, query::KernelsBy by, const trace::Trace& trace);

// A row for each group of what was found (`group` is its number), for as many as a table shows;
// then the frames of stacks, which have no group.
inline constexpr size_t kMostFoundGroups = 5000;
Table FoundTable(const query::SearchResult& found, const trace::Trace& trace);

}  // namespace vramscope::ui
