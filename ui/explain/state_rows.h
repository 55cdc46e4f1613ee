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
// A row for each pool. A private pool has the name of its owner, whose call site is in the tool
// tip.
Table StatePoolsTable(const explain::MemoryState& state);
// The largest blocks, at most `most` of them.
Table StateBlocksTable(const trace::Trace& trace, const explain::MemoryState& state, size_t most);
// The figures of TraceInfo::statistics.
Table StatisticsTable(const trace::TraceInfo& info);

}  // namespace vramscope::ui
