// What a search, a table or a link has marked: blocks, of which all others are drawn faint, and
// moments, which are ticks on overview and ruler.
//
//   model.Mark(std::make_shared<const Marking>(MarkThings(trace, found.things)));
//
// Made on any thread (a million things take milliseconds); immutable once the canvas has it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "profiler/query/things.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

struct Marking {
  std::shared_ptr<const trace::Trace> trace;  // that it is of
  std::vector<bool> blocks;                   // row = allocation; empty: no block is faint
  uint32_t block_count = 0;
  uint32_t count = 0;         // of all things
  std::vector<double> times;  // when they begin, rising, from the trace's begin
};

// `things` by begin. Blocks alone are told from the other blocks; among other things they are not:
// a canvas that is faint for the sake of one of a thousand kernels shows nothing.
Marking MarkThings(const std::shared_ptr<const trace::Trace>& trace,
                   std::span<const query::Thing> things);
// In any order, with doubles and ids that there are none of.
Marking MarkBlocks(const std::shared_ptr<const trace::Trace>& trace,
                   std::span<const trace::AllocationId> blocks);

}  // namespace vramscope::ui::timeline
