// The contents of the page about the memory at one time (state_page.h), as tables and facts. Does
// not use Qt.
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
// Returns at most `most` blocks, the largest.
Table StateBlocksTable(const trace::Trace& trace, const explain::MemoryState& state, size_t most);
// The figures of TraceInfo::statistics.
Table StatisticsTable(const trace::TraceInfo& info);

}  // namespace vramscope::ui
