// The lifetime of every block of a recording, in entries. Phases and categories that stacks do not
// show are derived from lifetimes.
#pragma once

#include <vector>

#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// The entries of every allocation and its free. One element per allocation.
struct Lives {
  std::vector<EntryIndex> born;  // 0 for blocks older than the recording
  // Entry of the free; the number of entries if the block is never freed.
  std::vector<EntryIndex> dead;
  // The entry at which the program begins to free everything, just before it ends. Blocks freed
  // from then on count as never freed. It is the number of entries if the recording has no such
  // end.
  EntryIndex teardown = 0;
};
Lives ReadLives(const recording::Recording& recording, const recording::History& history,
                const Timeline& marks);

}  // namespace vramscope::inference
