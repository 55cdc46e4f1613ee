#include "profiler/analysis/outside_steps.h"

#include <algorithm>
#include <optional>

namespace vramscope::analysis {
namespace {

using trace::EventIndex;
using trace::Phase;
using trace::SliceKind;

// Raises the row's peaks to the highest bytes in [begin, end), including those live at `begin`.
void RaisePeak(const MemoryCurves& curves, EventIndex begin, EventIndex end, OutsideRow& row) {
  const auto raise = [&](size_t point) {
    row.peak_allocated = std::max(row.peak_allocated, curves.allocated[point]);
    row.peak_reserved = std::max(row.peak_reserved, curves.reserved[point]);
  };
  if (const std::optional<size_t> entry = PointAt(curves, begin)) raise(*entry);
  const auto first = std::upper_bound(curves.event.begin(), curves.event.end(), begin);
  for (auto i = static_cast<size_t>(first - curves.event.begin());
       i < curves.size() && curves.event[i] < end; ++i)
    raise(i);
}

}  // namespace

std::vector<OutsideRow> OutsideSteps(const trace::Trace& trace, const MemoryCurves& curves) {
  const trace::SliceTable& s = trace.slices;
  std::vector<OutsideRow> rows;
  int32_t step = -1;
  EventIndex step_end = 0;
  for (uint32_t i = 0; i < s.size(); ++i) {
    if (s.depth[i] != 0) continue;
    if (s.kind[i] == SliceKind::kStep) {
      step = static_cast<int32_t>(s.number[i]);
      step_end = s.end_event[i];
    }
    if (s.kind[i] != SliceKind::kPhase || (step >= 0 && s.begin_event[i] < step_end)) continue;
    const Phase phase = s.phase(i);
    if (phase == Phase::kNone || phase == Phase::kData) continue;
    if (rows.empty() || rows.back().phase != phase || rows.back().after_step != step)
      rows.push_back({.phase = phase, .after_step = step, .begin_ns = s.begin_ns[i]});
    OutsideRow& row = rows.back();
    ++row.count;
    row.end_ns = s.end_ns[i];
    row.total_ms += static_cast<double>(s.end_ns[i] - s.begin_ns[i]) * 1e-6;
    RaisePeak(curves, s.begin_event[i], s.end_event[i], row);
  }
  return rows;
}

}  // namespace vramscope::analysis
