// The contents of the page of a snapshot, as tables and facts. Does not use Qt.
//
// Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "profiler/explain/state.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

std::vector<Fact> StateFacts(const explain::MemoryState& state);
Table StateSitesTable(const explain::MemoryState& state);
Table StateCategoriesTable(const analysis::LiveSet& live);
// Returns a row per pool. A private pool has its owner's name, and the owner's call site as tool
// tip.
Table StatePoolsTable(const explain::MemoryState& state);
// Returns the largest blocks, at most `most` of them.
Table StateBlocksTable(const trace::Trace& trace, const explain::MemoryState& state, size_t most);
// The figures of TraceInfo::statistics.
Table StatisticsTable(const trace::TraceInfo& info);

}  // namespace vramscope::ui
