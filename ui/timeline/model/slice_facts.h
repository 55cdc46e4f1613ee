// Collects facts about a step, phase, module or op. The tooltip shows the figures of a slice. For
// the selected slice, the panel also shows its allocations and kernels.
//
//   for (const LinkedFact& fact : FactsOfSlice(data, slice).facts) ...
//
// Pure functions of immutable data; thread-safe.
#pragma once

#include <vector>

#include "ui/timeline/model/activity_facts.h"

namespace vramscope::ui::timeline {

// Returns a slice's duration, peak, net change of memory, and the rule that inferred the slice.
std::vector<LinkedFact> FiguresOfSlice(const TimelineData& data, uint32_t slice);
// Returns FiguresOfSlice(), and also the slice's place, its largest allocations and its kernels.
ActivityFacts FactsOfSlice(const TimelineData& data, uint32_t slice);

}  // namespace vramscope::ui::timeline
