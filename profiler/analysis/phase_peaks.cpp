#include "profiler/analysis/phase_peaks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vramscope::analysis {
namespace {

// Raises `peak` to the maximum within a slice, including the bytes that are live at its begin.
void Look(const trace::SliceTable& s, uint32_t slice, const MemoryCurves& curves, PhasePeak& peak) {
  const std::optional<size_t> before = PointAt(curves, s.begin_event[slice]);
  const auto see = [&](size_t point, int64_t time_ns) {
    peak.reserved = std::max(peak.reserved, curves.reserved[point]);
    if (curves.allocated[point] <= peak.allocated) return;
    peak.allocated = curves.allocated[point];
    peak.time_ns = time_ns;
  };
  if (before) see(*before, s.begin_ns[slice]);
  for (size_t p = before ? *before + 1 : 0;
       p < curves.size() && curves.event[p] <= s.end_event[slice]; ++p)
    see(p, curves.time_ns[p]);
}

}  // namespace

std::vector<PhasePeak> PhasePeaksOf(const trace::Trace& trace, const MemoryCurves& curves) {
  const trace::SliceTable& s = trace.slices;
  std::map<std::pair<int32_t, trace::Phase>, PhasePeak> peaks;
  for (uint32_t i = 0; i < s.size(); ++i) {
    const bool step = s.kind[i] == trace::SliceKind::kStep;
    if (!step && (s.kind[i] != trace::SliceKind::kPhase || s.depth[i] != 0)) continue;
    const std::pair key = step ? std::pair(static_cast<int32_t>(s.number[i]), trace::Phase::kNone)
                               : std::pair(s.step[i], s.phase(i));
    const auto [it, added] = peaks.try_emplace(
        key, PhasePeak{.step = key.first, .phase = key.second, .time_ns = s.begin_ns[i]});
    Look(s, i, curves, it->second);
  }
  std::vector<PhasePeak> out;
  for (const auto& [key, peak] : peaks) out.push_back(peak);
  return out;
}

}  // namespace vramscope::analysis
