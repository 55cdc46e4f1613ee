// The table of all allocations: its columns, one row on demand, orders, and what a search finds.
// Without Qt.
//
//   AllocationOrder order(*trace, column, /*descending=*/true);
//   AllocationSearch search(*trace, "matmul");
//   for (uint32_t id : order.ids()) if (search.Matches({id})) use(AllocationRow(*trace, {id}));
//
// Pure functions of immutable traces; an AllocationSearch belongs to one thread.
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

// Whether module, op, category, phase, a Python frame of the stack, its operator, user metadata or
// compile context contain the text, whatever the case. Asks once for every name and stack.
class AllocationSearch {
 public:
  AllocationSearch(const trace::Trace& trace, std::string_view text);
  bool Matches(trace::AllocationId id);

 private:
  enum Answer : uint8_t { kNotAsked, kNo, kYes };
  bool Has(std::string_view text) const;
  bool HasString(trace::StringId id);
  bool HasFrame(uint32_t frame);
  bool HasStack(trace::StackId stack);

  const trace::Trace& trace_;
  std::string needle_;  // lower case
  std::array<bool, trace::kCategoryCount> categories_{};
  std::array<bool, trace::kPhaseCount> phases_{};
  std::vector<Answer> strings_, frames_, stacks_;
};

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
