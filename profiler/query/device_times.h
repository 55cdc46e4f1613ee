// How long the card was busy with each phase of each step.
//
//   for (const DeviceTimes& step : DeviceTimesOfSteps(ActivityIndex(trace)))
//   Show(step.backward_ms);
//
// The host runs ahead of the card: what a phase takes on the host says how long it launched and
// waited. A kernel, copy, fill or collective counts for the step and the innermost phase in which
// the call that launched it began; what runs at the same time on several streams counts once.
//
// Pure functions of an immutable index; thread-safe.
#pragma once

#include <vector>

#include "profiler/query/activity_index.h"

namespace vramscope::query {

struct DeviceTimes {
  double forward_ms = 0;  // with the loss
  double backward_ms = 0;
  double optimizer_ms = 0;
  double busy_ms = 0;  // with what lies in no phase, or in another one
};

// One for each row of analysis::StepTable. Empty: the trace has nothing that a card did whose call
// is known.
std::vector<DeviceTimes> DeviceTimesOfSteps(const ActivityIndex& index);

}  // namespace vramscope::query
