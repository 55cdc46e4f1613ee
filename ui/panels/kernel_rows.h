// The tables of the GPU's activities and of search results. Does not use Qt.
//
//   KernelTable(query::SumKernels(index, query::KernelsBy::kOp), query::KernelsBy::kOp, *trace)
//
// Pure functions of immutable data; thread-safe. The figures are those of `vramscope kernels`.
#pragma once

#include "profiler/query/kernel_sums.h"
#include "profiler/query/search.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// Row::group is the index of the row's sum, Row::activity the longest activity in that sum.
Table KernelTable(const query::KernelSums& sums, query::KernelsBy by, const trace::Trace& trace);

// The table has a row for each group of matches, at most kMostFoundGroups rows (Row::group is the
// group's index), and then a row without a group for each matching stack frame.
inline constexpr size_t kMostFoundGroups = 5000;
Table FoundTable(const query::SearchResult& found, const trace::Trace& trace);

}  // namespace vramscope::ui
