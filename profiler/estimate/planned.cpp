#include "profiler/estimate/planned.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "profiler/analysis/analysis.h"

namespace vramscope::estimate {
namespace {

using trace::Category;
using trace::Phase;

uint64_t Requested(const trace::Trace& trace, const analysis::LiveSet& live, Category category) {
  uint64_t sum = 0;
  for (const analysis::LiveAllocation& allocation : live.allocations) {
    if (allocation.category == category) sum += trace.allocations.bytes[allocation.id.value];
  }
  return sum;
}

// Returns whether the layer's number is a component of the module's path (12 in
// "model.layers.12.mlp").
bool InLayer(std::string_view module, std::string_view dotted) {
  return fmt::format(".{}.", module).find(dotted) != std::string::npos;
}

uint64_t KeptByLayer(const trace::Trace& trace, const analysis::LiveSet& live, uint32_t layer,
                     int32_t step) {
  const std::string dotted = fmt::format(".{}.", layer);
  const trace::AllocationTable& all = trace.allocations;
  uint64_t sum = 0;
  for (const analysis::LiveAllocation& allocation : live.allocations) {
    const uint32_t row = allocation.id.value;
    if (all.phase[row] == Phase::kForward && all.step[row] == step &&
        InLayer(trace.String(all.module[row]), dotted)) {
      sum += all.bytes[row];
    }
  }
  return sum;
}

}  // namespace

PlannedFigures FiguresOf(const trace::Trace& trace) {
  PlannedFigures figures;
  const auto set = [&](Planned what, uint64_t bytes) {
    figures.bytes[static_cast<size_t>(what)] = bytes;
  };
  const analysis::MemoryCurves curves = analysis::ComputeCurves(trace);
  if (curves.size() == 0) return figures;
  set(Planned::kPeak, analysis::FindPeak(trace, curves).allocated);

  const trace::SliceTable& slices = trace.slices;
  trace::EventIndex token = trace::kNoEvent;  // end of the last token
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.kind[row] != trace::SliceKind::kAnnotation) continue;
    const std::string_view name = trace.String(slices.name[row]);
    if (name == "prefill" || name == "decode") token = slices.end_event[row];
  }
  if (token != trace::kNoEvent) {
    set(Planned::kKvCache, Requested(trace, analysis::LiveAt(trace, token), Category::kKvCache));
  }
  int32_t last = -1;
  for (int32_t step : slices.step) last = std::max(last, step);
  bool forward = false;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.kind[row] != trace::SliceKind::kPhase || slices.step[row] != last || last < 0)
      continue;
    if (slices.end_event[row] == trace::kNoEvent) continue;
    if (slices.phase(row) == Phase::kForward && !forward) {
      forward = true;
      const analysis::LiveSet live = analysis::LiveAt(trace, slices.end_event[row]);
      set(Planned::kParameters, Requested(trace, live, Category::kParameter));
      if (trace.info.model.layers > 0)
        set(Planned::kLayer, KeptByLayer(trace, live, trace.info.model.layers / 2, last));
    } else if (slices.phase(row) == Phase::kOptimizer) {
      const analysis::LiveSet before = analysis::LiveAt(trace, slices.begin_event[row]);
      const analysis::LiveSet after = analysis::LiveAt(trace, slices.end_event[row]);
      set(Planned::kGradients, Requested(trace, before, Category::kGradient));
      set(Planned::kOptimizerState, Requested(trace, after, Category::kOptimizerState));
    }
  }
  return figures;
}

}  // namespace vramscope::estimate
