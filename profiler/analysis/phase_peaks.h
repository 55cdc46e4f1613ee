// Finds the peak of allocated memory in each phase of each step.
//
//   for (const PhasePeak& p : PhasePeaksOf(trace, curves)) Show(p.step, p.phase, p.allocated);
//
// Pure; thread-safe.
#pragma once

#include <vector>

#include "profiler/analysis/analysis.h"

namespace vramscope::analysis {

struct PhasePeak {
  int32_t step = -1;                         // -1: outside of steps
  trace::Phase phase = trace::Phase::kNone;  // kNone: the whole step
  uint64_t allocated = 0;                    // maximum, including the bytes at the phase's begin
  uint64_t reserved = 0;                     // maximum within the phase, independent of `allocated`
  int64_t time_ns = 0;                       // when `allocated` was first reached
};
// Returns the peaks of the outermost phases, sorted by step and phase. If a phase occurs several
// times in a step, it is one row.
std::vector<PhasePeak> PhasePeaksOf(const trace::Trace& trace, const MemoryCurves& curves);

}  // namespace vramscope::analysis
