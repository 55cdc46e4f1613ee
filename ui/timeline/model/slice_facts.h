// What is said of a step, a phase, a module, an op: on its tooltip, and beside the canvas where it
// is selected, there with what it made and launched.
//
//   for (const LinkedFact& fact : FactsOfSlice(data, slice).facts) ...
//
// Pure functions of immutable data; thread-safe.
#pragma once

#include <vector>

#include "ui/timeline/model/activity_facts.h"

namespace vramscope::ui::timeline {

// Length, peak within, what it leaves behind, and the rule by which it was inferred.
std::vector<LinkedFact> FiguresOfSlice(const TimelineData& data, uint32_t slice);
// The same with its place, its largest allocations and its kernels.
ActivityFacts FactsOfSlice(const TimelineData& data, uint32_t slice);

}  // namespace vramscope::ui::timeline
