// Makes the tables of the GPU's activities and of search results. Does not use Qt.
//
//   KernelTable(query::SumKernels(index, query::KernelsBy::kOp), query::KernelsBy::kOp, *trace)
//
// Pure functions of immutable data; thread-safe. The figures are those of `vramscope kernels`.
#pragma once

#include "profiler/query/kernel_sums.h"
#include "profiler/query/search.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// Row::group is the index of the row's sum. Row::activity is the longest activity of the sum.
Table KernelTable(const query::KernelSums& sums, query::KernelsBy by, const trace::Trace& trace);

// First come rows for at most kMostFoundGroups groups of matches; Row::group is the group's index.
// Then comes a row for each matching stack frame, which has no group.
inline constexpr size_t kMostFoundGroups = 5000;
Table FoundTable(const query::SearchResult& found, const trace::Trace& trace);

}  // namespace vramscope::ui
