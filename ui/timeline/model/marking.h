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
  std::shared_ptr<const trace::Trace> trace;  // the trace that contains the marked things
  std::vector<bool> blocks;  // whether each allocation is marked; empty: no block is drawn faint
  uint32_t block_count = 0;
  uint32_t count = 0;         // number of marked things of all kinds
  std::vector<double> times;  // their begin times since the trace's begin, ascending
};

// `things` must be sorted by begin. If all of them are blocks, all other blocks are drawn faint.
// Otherwise no block is, because one block among a thousand kernels would make most of the canvas
// faint.
Marking MarkThings(const std::shared_ptr<const trace::Trace>& trace,
                   std::span<const query::Thing> things);
// `blocks` may be in any order, and contain duplicates and invalid ids.
Marking MarkBlocks(const std::shared_ptr<const trace::Trace>& trace,
                   std::span<const trace::AllocationId> blocks);

}  // namespace vramscope::ui::timeline
