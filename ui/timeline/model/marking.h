// The things that a search, a table or a link marks. Marked blocks keep their full color, and all
// other blocks are drawn faint. The overview and the ruler have a tick for each marked thing.
//
//   model.Mark(std::make_shared<const Marking>(MarkThings(trace, found.things)));
//
// Any thread may build a Marking, which takes milliseconds for a million things. A Marking must not
// change after it was passed to the canvas.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "profiler/query/things.h"
#include "profiler/trace/trace.h"

namespace vramscope::ui::timeline {

struct Marking {
  std::shared_ptr<const trace::Trace> trace;  // the marked trace
  std::vector<bool> blocks;  // indexed by row of the allocations; empty: no block is drawn faint
  uint32_t block_count = 0;
  uint32_t count = 0;         // number of all marked things
  std::vector<double> times;  // begin times, ascending, from the trace's begin
};

// `things` must be sorted by begin. Other blocks are drawn faint only if all marked things are
// blocks, because one block among a thousand kernels would make most of the canvas faint.
Marking MarkThings(const std::shared_ptr<const trace::Trace>& trace,
                   std::span<const query::Thing> things);
// `blocks` may be in any order, with duplicates and invalid ids.
Marking MarkBlocks(const std::shared_ptr<const trace::Trace>& trace,
                   std::span<const trace::AllocationId> blocks);

}  // namespace vramscope::ui::timeline
