// The table of all allocations: its columns, its rows (made one at a time, on demand) and its sort
// orders. Does not use Qt. profiler/query/matcher.h decides which allocations a search finds.
//
//   for (uint32_t id : AllocationOrder(*trace, column, /*descending=*/true))
//     use(AllocationRow(*trace, {id}));
//
// Pure functions of immutable traces.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"
#include "ui/panels/rows.h"

namespace vramscope::ui {

// The columns for user metadata and compile context exist only if the trace has such data.
std::vector<Column> AllocationColumns(const trace::Trace* trace);
Row AllocationRow(const trace::Trace& trace, trace::AllocationId id);
// The column of block sizes, by which the table is initially sorted.
inline constexpr int kBlockColumn = 5;
// The columns Step, Phase, Allocated at and Lifetime.
inline constexpr std::array<int, 4> kColumnsOfTime = {6, 7, 8, 9};

// Returns the ids of all allocations, sorted by a column. Allocations with equal keys are sorted by
// id. Takes linear time.
std::vector<uint32_t> AllocationOrder(const trace::Trace& trace, int column, bool descending);

// The events of a selected range, including `last`. The default is the whole trace.
struct EventSpan {
  trace::EventIndex first = 0, last = trace::kNoEvent;
  bool whole() const { return first == 0 && last == trace::kNoEvent; }
  // Returns whether the allocation exists at any time within the span.
  bool Touches(const trace::Trace& trace, uint32_t allocation) const {
    return trace.allocations.alloc_event[allocation] <= last &&
           trace.allocations.free_event[allocation] >= first;  // kNoEvent is the maximum value
  }
  friend bool operator==(const EventSpan&, const EventSpan&) = default;
};
// Returns the span of the whole trace if begin >= end.
EventSpan SpanOf(const trace::Trace& trace, int64_t begin_ns, int64_t end_ns);

}  // namespace vramscope::ui
