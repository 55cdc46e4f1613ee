#include "profiler/analysis/timeline.h"

#include <algorithm>

namespace vramscope::analysis {

using trace::SliceKind;

std::vector<Place> PlacesOf(const trace::Trace& trace) {
  const trace::SliceTable& s = trace.slices;
  std::vector<uint32_t> open_steps, open_phases;  // innermost last
  std::vector<Place> places = {Place{}};

  const auto change = [&](trace::EventIndex event) {
    if (places.back().event != event) places.push_back({.event = event});
    places.back().step =
        open_steps.empty() ? -1 : static_cast<int32_t>(s.number[open_steps.back()]);
    places.back().phase = open_phases.empty() ? trace::Phase::kNone : s.phase(open_phases.back());
  };
  // Closes the slices that end before `event`, in the order of their ends.
  const auto close_until = [&](trace::EventIndex event) {
    while (true) {
      std::vector<uint32_t>* first = nullptr;
      for (auto* open : {&open_phases, &open_steps}) {
        if (open->empty() || s.end_event[open->back()] >= event) continue;
        if (first == nullptr || s.end_event[open->back()] < s.end_event[first->back()]) {
          first = open;
        }
      }
      if (first == nullptr) return;
      const trace::EventIndex end = s.end_event[first->back()];
      first->pop_back();
      change(end);
    }
  };
  for (uint32_t i = 0; i < s.size(); ++i) {
    const bool step = s.kind[i] == SliceKind::kStep;
    if (!step && s.kind[i] != SliceKind::kPhase) continue;
    close_until(s.begin_event[i]);
    (step ? open_steps : open_phases).push_back(i);
    change(s.begin_event[i]);
  }
  close_until(trace::kNoEvent);
  return places;
}

const Place& PlaceAt(const std::vector<Place>& places, trace::EventIndex event) {
  const auto it = std::upper_bound(places.begin(), places.end(), event,
                                   [](trace::EventIndex e, const Place& p) { return e < p.event; });
  return *std::prev(it);
}

}  // namespace vramscope::analysis
