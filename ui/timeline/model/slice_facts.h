// Collects facts about a step, phase, module or op. The tooltip shows the figures. The panel also
// shows the allocations and kernels of the selected slice.
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
// Returns FiguresOfSlice(), and the slice's place, largest allocations and kernels.
ActivityFacts FactsOfSlice(const TimelineData& data, uint32_t slice);

}  // namespace vramscope::ui::timeline
