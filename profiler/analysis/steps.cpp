#include <algorithm>
#include <map>
#include <utility>

#include "profiler/analysis/analysis.h"
#include "profiler/analysis/past_allocator.h"
#include "profiler/analysis/timeline.h"

namespace vramscope::analysis {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kCategoryCount;
using trace::Phase;
using trace::SliceKind;

MemoryPair ValueAt(const MemoryCurves& curves, EventIndex event) {
  const std::optional<size_t> i = PointAt(curves, event);
  return i ? MemoryPair{curves.allocated[*i], curves.reserved[*i]} : MemoryPair{};
}

// Returns the event of the first marker with this name, or nullopt.
std::optional<EventIndex> MarkerEvent(const trace::Trace& trace, std::string_view name) {
  for (const trace::Marker& m : trace.markers) {
    if (trace.String(m.name) == name) return m.event;
  }
  return std::nullopt;
}

EventIndex LastEvent(const trace::Trace& trace) {
  return trace.events.size() == 0 ? 0 : trace.events.size() - 1;
}

using PhaseKey = std::pair<int32_t, Phase>;

std::map<PhaseKey, CategoryBytes> PhasePeaks(const trace::Trace& trace,
                                             const MemoryCurves& curves) {
  std::map<PhaseKey, CategoryBytes> peaks;
  const std::vector<Place> places = PlacesOf(trace);
  size_t i = 0;  // next point
  for (size_t p = 0; p < places.size(); ++p) {
    CategoryBytes& peak = peaks[{places[p].step, places[p].phase}];
    const EventIndex end = p + 1 < places.size() ? places[p + 1].event : trace::kNoEvent;
    const size_t first = i == 0 ? 0 : i - 1;  // the point before the place, if any
    while (i < curves.size() && curves.event[i] < end) ++i;
    for (int c = 0; c < kCategoryCount; ++c) {
      const MemoryCurves::Bytes& column = curves.category[c];
      if (column.empty() || first == i) continue;
      peak[c] = std::max(peak[c], *std::max_element(column.begin() + static_cast<ptrdiff_t>(first),
                                                    column.begin() + static_cast<ptrdiff_t>(i)));
    }
  }
  return peaks;
}

}  // namespace

std::vector<StepRow> StepTable(const trace::Trace& trace, const MemoryCurves& curves) {
  const trace::SliceTable& s = trace.slices;
  std::vector<StepRow> rows;
  const std::vector<Place> places = PlacesOf(trace);
  EventIndex step_end = 0;  // end event of the last row
  for (uint32_t i = 0; i < s.size(); ++i) {
    const double ms = static_cast<double>(s.end_ns[i] - s.begin_ns[i]) * 1e-6;
    if (s.kind[i] == SliceKind::kPhase && s.depth[i] == 0 && !rows.empty() &&
        s.begin_event[i] < step_end) {
      StepRow& row = rows.back();
      switch (s.phase(i)) {
        case Phase::kForward:
        case Phase::kLoss:
          row.forward_ms += ms;
          break;
        case Phase::kBackward:
          row.backward_ms += ms;
          break;
        case Phase::kOptimizer:
          row.optimizer_ms += ms;
          break;
        default:
          break;
      }
    }
    if (s.kind[i] != SliceKind::kStep || s.depth[i] != 0) continue;
    step_end = s.end_event[i];
    StepRow row{.index = static_cast<int32_t>(s.number[i]),
                .begin_ns = s.begin_ns[i],
                .end_ns = s.end_ns[i],
                .total_ms = ms};
    EventIndex peak_event = s.begin_event[i];
    const MemoryPair entry = ValueAt(curves, peak_event);
    row.peak_allocated = entry.allocated;
    row.peak_reserved = entry.reserved;
    auto p =
        static_cast<size_t>(std::upper_bound(curves.event.begin(), curves.event.end(), peak_event) -
                            curves.event.begin());
    for (; p < curves.size() && curves.event[p] < step_end; ++p) {
      row.peak_reserved = std::max(row.peak_reserved, curves.reserved[p]);
      if (curves.allocated[p] > row.peak_allocated) {
        row.peak_allocated = curves.allocated[p];
        peak_event = curves.event[p];
      }
    }
    row.peak_phase = PlaceAt(places, peak_event).phase;
    rows.push_back(row);
  }
  return rows;
}

Summary Summarize(const trace::Trace& trace, const MemoryCurves& curves) {
  Summary out;
  const trace::SliceTable& s = trace.slices;
  EventIndex first = trace.recording_begin == trace::kNoEvent ? 0 : trace.recording_begin;
  EventIndex last = LastEvent(trace);
  const auto is_step = [](SliceKind k) { return k == SliceKind::kStep; };
  if (const auto it = std::find_if(s.kind.begin(), s.kind.end(), is_step); it != s.kind.end()) {
    first = s.begin_event[static_cast<size_t>(it - s.kind.begin())];
    const auto back = std::find_if(s.kind.rbegin(), s.kind.rend(), is_step);
    last = std::min(last, s.end_event[static_cast<size_t>(s.kind.rend() - back) - 1]);
  }
  out.before_training =
      ValueAt(curves, MarkerEvent(trace, trace::kMarkerTrainingBegin).value_or(first));
  out.after_training =
      ValueAt(curves, MarkerEvent(trace, trace::kMarkerTrainingEnd).value_or(last));
  out.peak = FindPeak(trace, curves);
  out.most_used = MostUsed(trace, curves, out.peak);
  out.steps = StepTable(trace, curves);
  out.events = trace.events.size();
  out.out_of_memory = std::find(trace.events.kind.begin(), trace.events.kind.end(),
                                EventKind::kOutOfMemory) != trace.events.kind.end();
  // Only plans of programs set went_on. The embedded loop always continues, because its allocations
  // may exceed the device's memory. A recording might continue differently on another device.
  const auto refused =
      std::find(trace.events.kind.rbegin(), trace.events.kind.rend(), EventKind::kOutOfMemory);
  out.went_on = out.out_of_memory && trace.complete && !trace.info.measured &&
                !trace.info.has_config &&
                std::find(trace.events.kind.rbegin(), refused, EventKind::kAlloc) != refused;
  const run::DeviceProfile& device = trace.info.device;
  if (device.memory_bytes != 0) {
    out.headroom_bytes = static_cast<int64_t>(device.memory_bytes) -
                         static_cast<int64_t>(device.context_bytes) -
                         static_cast<int64_t>(out.needed());
  }
  out.fits = out.headroom_bytes >= 0 && (!out.out_of_memory || out.went_on);
  return out;
}

std::vector<PhaseTotal> PhaseTotals(const trace::Trace& trace, const MemoryCurves& curves) {
  std::vector<PhaseTotal> out;
  for (const auto& [key, bytes] : PhasePeaks(trace, curves)) {
    for (int c = 0; c < kCategoryCount; ++c) {
      if (bytes[c] == 0) continue;
      out.push_back({key.first, key.second, static_cast<trace::Category>(c), bytes[c]});
    }
  }
  return out;
}

std::vector<DiffRow> Diff(const trace::Trace& a, const trace::Trace& b) {
  std::map<PhaseKey, std::pair<CategoryBytes, CategoryBytes>> both;
  for (const auto& [key, bytes] : PhasePeaks(a, ComputeCurves(a))) both[key].first = bytes;
  for (const auto& [key, bytes] : PhasePeaks(b, ComputeCurves(b))) both[key].second = bytes;
  std::vector<DiffRow> out;
  for (const auto& [key, bytes] : both) {
    for (int c = 0; c < kCategoryCount; ++c) {
      if (bytes.first[c] == 0 && bytes.second[c] == 0) continue;
      out.push_back({.step = key.first,
                     .phase = key.second,
                     .category = static_cast<trace::Category>(c),
                     .a = bytes.first[c],
                     .b = bytes.second[c]});
    }
  }
  return out;
}

}  // namespace vramscope::analysis
