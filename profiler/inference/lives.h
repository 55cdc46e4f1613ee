// From when to when every block of a recording lives, in entries: what phases and categories are
// told from where stacks do not say them.
#pragma once

#include <vector>

#include "profiler/inference/timeline.h"
#include "profiler/recording/recording.h"

namespace vramscope::inference {

// When every allocation was made and let go, as entries. One row an allocation.
struct Lives {
  std::vector<EntryIndex> born;  // 0 for those older than the recording
  std::vector<EntryIndex> dead;  // entry of the free; the number of entries: never
  // First entry of the frees with which the program ended, letting everything go; frees from here
  // on count as never. The number of entries: no such end.
  EntryIndex teardown = 0;
};
Lives ReadLives(const recording::Recording& recording, const recording::History& history,
                const Timeline& marks);

}  // namespace vramscope::inference
