// The tables of the GPU's activities and of search results. Without Qt.
//
//   KernelTable(query::SumKernels(index, query::KernelsBy::kOp), query::KernelsBy::kOp, *trace)
//
// Pure functions of immutable data; thread-safe. The figures are those of `vramscope kernels`.
#pragma once

#include "profiler/query/kernel_sums.h"
#include "profiler/query/search.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// `group` of a row is the index of its sum, `activity` the longest activity in that sum.
Table KernelTable(const query::KernelSums& sums, query::KernelsBy by, const trace::Trace& trace);

// A row for each group of matches (`group` is its index), at most kMostFoundGroups, then the stack
// frames that match; these have no group.
inline constexpr size_t kMostFoundGroups = 5000;
Table FoundTable(const query::SearchResult& found, const trace::Trace& trace);

}  // namespace vramscope::ui
