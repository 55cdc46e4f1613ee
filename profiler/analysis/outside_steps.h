// Finds what a run does outside of its training steps: evaluation, generation, reading and writing
// checkpoints.
//
//   for (const OutsideRow& row : OutsideSteps(trace, ComputeCurves(trace))) ...
//
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/trace.h"

namespace vramscope::analysis {

// Consecutive phases of one kind outside of steps are one row, such as the batches of an
// evaluation.
struct OutsideRow {
  trace::Phase phase = trace::Phase::kNone;
  int32_t after_step = -1;  // -1: before the first step
  uint32_t count = 0;       // number of phases
  int64_t begin_ns = 0, end_ns = 0;
  double total_ms = 0;  // sum over the phases only
  uint64_t peak_allocated = 0, peak_reserved = 0;
};
// Returns the rows in order of time. Phases that fetch data are left out.
std::vector<OutsideRow> OutsideSteps(const trace::Trace& trace, const MemoryCurves& curves);

}  // namespace vramscope::analysis
