// Makes the tables of the GPU's activities and of search results. Does not use Qt.
//
//   KernelTable(query::SumKernels(index, query::KernelsBy::kOp), query::KernelsBy::kOp, *trace)
//
// Pure functions of immutable data; thread-safe. `vramscope kernels` prints the same figures.
#pragma once

#include "profiler/query/kernel_sums.h"
#include "profiler/query/search.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// Row::group is an index in `sums`. Row::activity is the longest activity that the row sums up.
Table KernelTable(const query::KernelSums& sums, query::KernelsBy by, const trace::Trace& trace);

// Returns a row for each group of matches, for at most kMostFoundGroups groups. Row::group is the
// group's index. Then follow rows of matching stack frames, which have no group.
inline constexpr size_t kMostFoundGroups = 5000;
Table FoundTable(const query::SearchResult& found, const trace::Trace& trace);

}  // namespace vramscope::ui
