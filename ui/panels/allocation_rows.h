// The table of all allocations: its columns, one row on demand, orders. Without Qt. What a search
// finds among them is profiler/query/matcher.h's.
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

// User metadata and compile context are columns of traces that have any.
std::vector<Column> AllocationColumns(const trace::Trace* trace);
Row AllocationRow(const trace::Trace& trace, trace::AllocationId id);
// By the size of the block: what the table begins with.
inline constexpr int kBlockColumn = 5;
// Step, phase, born, lives.
inline constexpr std::array<int, 4> kColumnsOfTime = {6, 7, 8, 9};

// All allocations sorted by a column, ties by id. Linear in their number.
std::vector<uint32_t> AllocationOrder(const trace::Trace& trace, int column, bool descending);

// Events [first, last] of a selected range; none: the whole trace.
struct EventSpan {
  trace::EventIndex first = 0, last = trace::kNoEvent;
  bool whole() const { return first == 0 && last == trace::kNoEvent; }
  // Whether an allocation is in memory at some time of it.
  bool Touches(const trace::Trace& trace, uint32_t allocation) const {
    return trace.allocations.alloc_event[allocation] <= last &&
           trace.allocations.free_event[allocation] >= first;  // kNoEvent is the greatest
  }
  friend bool operator==(const EventSpan&, const EventSpan&) = default;
};
// begin >= end: the whole trace.
EventSpan SpanOf(const trace::Trace& trace, int64_t begin_ns, int64_t end_ns);

}  // namespace vramscope::ui
