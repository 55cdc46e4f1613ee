#include "profiler/inference/lives.h"

#include <algorithm>

namespace vramscope::inference {

using recording::History;
using recording::kNoEntry;
using recording::Recording;
using trace::Phase;

Lives ReadLives(const Recording& recording, const History& history, const Timeline& marks) {
  const History::Allocations& allocations = history.allocations;
  const EntryIndex n = recording.entries.size();
  Lives lives;
  lives.born.resize(allocations.size());
  lives.dead.resize(allocations.size());
  EntryIndex last_alloc = 0;
  bool all_freed = allocations.size() > 0;
  for (uint32_t a = 0; a < allocations.size(); ++a) {
    lives.born[a] = allocations.alloc[a] == kNoEntry ? 0 : allocations.alloc[a];
    lives.dead[a] = allocations.free_completed[a] == kNoEntry ? n : allocations.free_completed[a];
    all_freed &= lives.dead[a] < n;
    last_alloc = std::max(last_alloc, lives.born[a]);
  }
  lives.teardown = n;
  if (all_freed) {
    // Frees at the end belong to the training, not to the teardown, if they have a phase.
    EntryIndex last = last_alloc;
    for (EntryIndex i = n; i-- > last_alloc;) {
      if (marks.phase[i] != Phase::kNone) {
        last = i;
        break;
      }
    }
    lives.teardown = last + 1;
    for (EntryIndex& dead : lives.dead) {
      if (dead > last) dead = n;
    }
  }
  return lives;
}

}  // namespace vramscope::inference
