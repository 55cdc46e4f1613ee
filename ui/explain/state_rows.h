// What the page of a state says, as tables and facts. Without Qt.
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
// A pool a row; a private one is called after its owner, its site is in the tool tip.
Table StatePoolsTable(const explain::MemoryState& state);
// The largest blocks, at most `most`.
Table StateBlocksTable(const trace::Trace& trace, const explain::MemoryState& state, size_t most);
// TraceInfo::statistics.
Table StatisticsTable(const trace::TraceInfo& info);

}  // namespace vramscope::ui
