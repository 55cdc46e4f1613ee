// Finds the step and phase of every event, as a short list of changes. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// The step and phase from `event` (inclusive) to the next change.
struct Place {
  trace::EventIndex event = 0;
  int32_t step = -1;
  trace::Phase phase = trace::Phase::kNone;  // innermost
};

// Returns the places, sorted by event, with at most one per event. The first is at event 0.
std::vector<Place> PlacesOf(const trace::Trace& trace);
const Place& PlaceAt(const std::vector<Place>& places, trace::EventIndex event);

}  // namespace vramscope::analysis
